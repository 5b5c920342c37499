import BSON
import Jobs
import Mongo
import TestSupport
import Testing

/// Steps run over documents exactly as a chunk is written: one filtered pipeline update.
struct StepsRun {
    /// What a step makes of a document before the update: needed, or the reasons for leaving it alone.
    struct Class: Hashable, CustomStringConvertible {
        var isNeeded: Bool
        var reasons: [CompiledStep.Reason]
        var description: String { isNeeded ? "needed" : reasons.first?.rawValue ?? "untouched" }
    }

    let steps: [CompiledStep]
    let before: [BSONDocument]
    let after: [BSONDocument]
    /// By document, what the first step makes of it.
    let classes: [Class]
    let modified: Int
    /// Documents that still need a step after the update, and those that a second update changes.
    let remaining: Int
    let modifiedAgain: Int

    init(
        _ steps: Step..., over documents: [BSONDocument], in database: TestDatabase, collection: String = "c"
    ) async throws {
        let compiled = steps.map { CompiledStep($0) }
        let filter = Self.filter(compiled)
        let pipeline = BSONValue.array(of: compiled.map { .object($0.stage) })
        let statement = UpdateStatement(filter, pipeline, isMulti: true, hint: ["_id": 1])
        let namespace = database.namespace(collection)
        self.steps = compiled
        // The plain command: the driver's own insert refuses names that are empty or hold a dot.
        try await database.run([
            "insert": .string(collection), "documents": .array(of: documents.map { .object($0) }),
        ])
        before = try await database.documents(collection)
        classes = try await Self.classes(compiled[0], namespace, database.pool)
        modified = try await database.pool.run { try $0.collection(namespace).update([statement]).modified }
        after = try await database.documents(collection)
        remaining = try await database.count(collection, filter)
        modifiedAgain = try await database.pool.run { client in
            // Without the filter: no stage changes a document that does not need it.
            try client.collection(namespace).update([UpdateStatement([:], pipeline, isMulti: true)]).modified
        }
    }

    private static func filter(_ steps: [CompiledStep]) -> BSONDocument {
        ["$expr": ["$or": .array(of: steps.map(\.needs.bson))]]
    }

    private static func classes(
        _ step: CompiledStep, _ namespace: Namespace, _ pool: ClientPool
    ) async throws -> [Class] {
        var flags: BSONDocument = ["needs": step.needs.bson]
        for (index, entry) in step.leftAlone.enumerated() { flags = flags.appending("r\(index)", entry.when.bson) }
        let pipeline: [BSONDocument] = [["$sort": ["_id": 1]], ["$project": .object(flags)]]
        let found = try await pool.run { try $0.collection(namespace).aggregate(pipeline).documents() }
        return found.map { flags in
            let reasons = step.leftAlone.indices.filter { flags["r\($0)"] == true }.map { step.leftAlone[$0].reason }
            return Class(isNeeded: flags["needs"] == true, reasons: reasons)
        }
    }

    /// What holds for every step and document: it is in one class, done after one update, and else untouched.
    func expectSound(sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(remaining == 0, "idempotent", sourceLocation: sourceLocation)
        // Where a name stands twice only the filter keeps the stages away.
        let repeated = classes.count { $0.reasons.contains(.repeatedName) }
        #expect(modifiedAgain <= repeated, "a second run changes nothing", sourceLocation: sourceLocation)
        #expect(modified == classes.count(where: \.isNeeded), sourceLocation: sourceLocation)
        #expect(before.count == after.count && before.count == classes.count, sourceLocation: sourceLocation)
        for (index, (old, new)) in zip(before, after).enumerated() {
            let found = classes[index]
            let count = (found.isNeeded ? 1 : 0) + found.reasons.count
            #expect(
                count <= 1 || steps[0].step.target.leadsIntoElements,
                "\(name(old)): \(found.isNeeded), \(found.reasons)", sourceLocation: sourceLocation)
            let step = steps[0].step
            let touched = step.kind.touched.map { $0.components[0] }
            guard step.kind.touched == [step.target], !step.target.leadsIntoElements, step.kind.removed.isEmpty else {
                // Of several targets, or where one is taken away: what is not touched stays, in its order.
                let (untouched, left) = (try old.without(touched), try new.without(touched))
                #expect(
                    found.isNeeded ? untouched.bytes == left.bytes : old.bytes == new.bytes,
                    "\(name(old)) is \(found)", sourceLocation: sourceLocation)
                continue
            }
            let expected =
                found.isNeeded ? try old.setting(step.target.components, to: new.value(at: step.target)) : old
            #expect(new.bytes == expected.bytes, "\(name(old)) is \(found)", sourceLocation: sourceLocation)
        }
    }

    private func name(_ document: BSONDocument) -> String { document["name"]?.text ?? "\(document["_id"] ?? nil)" }
}

extension BSONValue {
    /// The value's bytes, which tell 0.0 from -0.0, and are equal for one NaN.
    var bytes: [UInt8] { BSONDocument([("v", self)]).bytes }
}

extension BSONDocument {
    /// The value at a path through objects; `nil` when there is none.
    func value(at path: FieldPath) -> BSONValue? {
        path.components.reduce(.object(self)) { value, name in
            if case .object(let document)? = value { document[name] } else { nil }
        }
    }

    /// The document with another value at the path, in its place or behind the parent's last field.
    func setting(_ path: some Collection<String>, to value: BSONValue?) throws -> BSONDocument {
        guard let name = path.first, let value else { return self }
        guard path.count > 1 else { return try replacing(name, with: value) }
        guard case .object(let inner)? = self[name] else { return self }
        return try replacing(name, with: .object(try inner.setting(path.dropFirst(), to: value)))
    }
}

extension BSONDocument {
    /// The document without some fields of its own.
    func without(_ names: [String]) throws -> BSONDocument {
        BSONDocument(try elements().filter { !names.contains($0.name) })
    }
}

func path(_ text: String) throws -> FieldPath { try FieldPath(text) }

/// A step as a job file states it.
func step(_ yaml: String) throws -> Step {
    let job = try JobFile.parse("job: a\ncollection: b.c\nsteps:\n  - \(yaml)\n", path: "j.yml")
    return try #require(job.steps.first).step
}
