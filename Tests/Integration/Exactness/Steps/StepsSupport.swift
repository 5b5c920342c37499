import BSON
import Jobs
import Mongo
import Proving
import TestSupport
import Testing

/// A run of steps over documents: one update with a filter and a pipeline, like a job's update of a chunk.
struct StepsRun {
    /// The effect of a step on a document, as evaluated before the update.
    ///
    /// The step is needed, or there are reasons to skip the document, or the step does not apply to it.
    struct Class: Hashable, CustomStringConvertible {
        var isNeeded: Bool
        var reasons: [CompiledStep.Reason]
        var description: String { isNeeded ? "needed" : reasons.first?.rawValue ?? "untouched" }
    }

    let steps: [CompiledStep]
    let before: [BSONDocument]
    let after: [BSONDocument]
    /// The effect of the first step on each document, as evaluated before the update.
    let classes: [Class]
    let modified: Int
    /// The number of documents that still need a step after the update.
    let remaining: Int
    /// The number of documents that a second update changes.
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
        // The test sends the command itself, because the driver's own insert refuses names that are empty or contain a
        // dot.
        try await database.run([
            "insert": .string(collection), "documents": .array(of: documents.map { .object($0) }),
        ])
        before = try await database.documents(collection)
        classes = try await Self.classes(compiled[0], namespace, database.pool)
        modified = try await database.pool.run { try $0.collection(namespace).update([statement]).modified }
        after = try await database.documents(collection)
        remaining = try await database.count(collection, filter)
        modifiedAgain = try await database.pool.run { client in
            // The second update has no filter, so that it shows whether its pipeline changes a document again. The
            // pipeline may do so only if a field name occurs twice in the document.
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
        for (index, entry) in step.skipped.enumerated() { flags = flags.appending("r\(index)", entry.when.bson) }
        let pipeline: [BSONDocument] = [["$sort": ["_id": 1]], ["$project": .object(flags)]]
        let found = try await pool.run { try $0.collection(namespace).aggregate(pipeline).documents() }
        return found.map { flags in
            let reasons = step.skipped.indices.filter { flags["r\($0)"] == true }.map { step.skipped[$0].reason }
            return Class(isNeeded: flags["needs"] == true, reasons: reasons)
        }
    }

    /// Checks the results of the update.
    ///
    /// The first step must change a document, skip it for one reason, or not apply to it. This is not required of a
    /// step whose path leads into elements. The update changes only fields that the step writes. A second update
    /// changes only documents in which a field name occurs twice.
    func expectSound(sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(remaining == 0, "idempotent", sourceLocation: sourceLocation)
        // If a field name occurs twice in a document, each update changes the document. In a real run, the filter
        // excludes such a document, but the second update here has no filter.
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
                // If the step has several targets, removes a field, or has a path that leads into elements, only the
                // fields that it does not touch are compared. They must be unchanged and in the same order.
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
    /// The bytes of the value.
    ///
    /// Compared by these bytes, 0.0 differs from -0.0, and a NaN equals itself.
    var bytes: [UInt8] { BSONDocument([("v", self)]).bytes }
}

extension BSONDocument {
    /// Returns the value at a path through nested objects; `nil` if the document has no such value.
    func value(at path: FieldPath) -> BSONValue? {
        path.components.reduce(.object(self)) { value, name in
            if case .object(let document)? = value { document[name] } else { nil }
        }
    }

    /// Returns the document with another value at a path.
    ///
    /// A new field comes after the last field of its parent.
    ///
    /// The document is unchanged if the value is `nil`, or if a parent of the field is not an object.
    func setting(_ path: some Collection<String>, to value: BSONValue?) throws -> BSONDocument {
        guard let name = path.first, let value else { return self }
        guard path.count > 1 else { return try replacing(name, with: value) }
        guard case .object(let inner)? = self[name] else { return self }
        return try replacing(name, with: .object(try inner.setting(path.dropFirst(), to: value)))
    }
}

extension BSONDocument {
    /// Returns the document without the top-level fields that have the given names.
    func without(_ names: [String]) throws -> BSONDocument {
        BSONDocument(try elements().filter { !names.contains($0.name) })
    }
}

func path(_ text: String) throws -> FieldPath { try FieldPath(text) }

/// Returns the step that a text in the syntax of a job file describes.
func step(_ yaml: String) throws -> Step {
    let job = try JobFile.parse("job: a\ncollection: b.c\nsteps:\n  - \(yaml)\n", path: "j.yml")
    return try #require(job.steps.first).step
}

extension OddValue: CustomTestStringConvertible {
    package var testDescription: String { name }
}
