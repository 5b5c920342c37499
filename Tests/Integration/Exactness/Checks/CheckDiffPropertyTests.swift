import BSON
import Checking
import Proving
import ServerSchema
import SystemPackage
import TestSupport
import Testing

/// Tests that `check --active` and `diff` never contradict each other, for random pairs of schemas with documents.
@Suite struct CheckDiffPropertyTests {
    private static let pairs = TestScale.pick(60, full: 200, torture: 2_000)

    @Test(.timeLimit(.minutes(60))) func checkAndDiffAgree() async throws {
        var outcomes: [String: Int] = [:]
        try await CheckVerdictCase.with { test in
            for start in stride(from: 0, to: Self.pairs, by: 4) {
                try await withThrowingTaskGroup(of: String.self) { group in
                    for seed in start..<min(start + 4, Self.pairs) {
                        group.addTask { try await Self.agree(SchemaPair(seed: seed), in: test) }
                    }
                    for try await outcome in group { outcomes[outcome, default: 0] += 1 }
                }
            }
        }
        // Each kind of verdict must occur often enough, because otherwise the test would prove little.
        for kind in ["safe", "documents", "change", "documents and change"] {
            #expect(outcomes[kind, default: 0] >= Self.pairs / 20, "\(outcomes)")
        }
        print("pairs of schemas: \(outcomes)")
    }

    /// Runs `check` and `diff` on one pair of schemas, and expects that they agree.
    ///
    /// - Returns: "safe", or what makes the deploy of the newer schema unsafe: "documents", "change", or "documents and
    ///   change".
    private static func agree(_ pair: SchemaPair, in test: CheckVerdictCase) async throws -> String {
        let namespace = test.database.namespace("Task\(pair.seed)")
        let folder = "pair-\(pair.seed)"
        let files = try ["v1", "v2"].map { version in
            try test.folder.write(
                version == "v1" ? pair.old : pair.new, to: "\(folder)/\(version)/\(namespace).json")
        }
        try await test.database.fill(namespace.collection, pair.documents)
        let home = test.folder.path.appending(folder)
        let diff = try await Program.run(["diff", "v1", "v2", "--output", "json"], in: home)
        let check = try await Program.run(
            [
                "check", "v2", "--active", "v1", "--uri", test.mongod.uri, "SHIPSHAPE_LEDGER=none",
                "SHIPSHAPE_STATE_DATABASE=\(test.state.name)", "--output", "json", "--report", "report.txt",
            ], in: home)
        let about: Comment = "seed \(pair.seed): \(files), \(check.errors) \(diff.errors)"
        let said = try #require(try BSONDocument(extendedJSON: diff.output)["verdict"]?.document, about)
        let verdict = try #require(try BSONDocument(extendedJSON: check.output)["verdict"]?.document, about)
        let parts = try #require(verdict["parts"]?.document, about)
        let change = try #require(parts["change"]?.document, about)

        // In the verdict of `check`, the part `change` is the same as the verdict of `diff`.
        for key in ["worst", "changes", "breaking", "consequences"] { #expect(change[key] == said[key], about) }
        let isBreaking = said["worst"] == "breaking"
        #expect(diff.exitCode == (isBreaking ? 1 : 0), about)
        #expect((change["severity"] == "harmful") == isBreaking, about)

        // The verdict of `check` states as many newly failing documents as the checker finds one by one.
        let (old, new) = (try pair.compiled(pair.old, namespace), try pair.compiled(pair.new, namespace))
        let newlyFailing = try pair.documents.count {
            try old.check($0.view) != .certain && new.check($0.view) == .certain
        }
        #expect(verdict["newly_failing"] == .integer(newlyFailing), about)

        // The check calls a pair safe only if the change is not breaking and no document newly fails. The exit code of
        // the check expresses the same verdict.
        let isSafe = !isBreaking && newlyFailing == 0
        let text = try #require(test.folder.text(of: "\(folder)/report.txt"), about)
        #expect(verdict["safe"] == .bool(isSafe), about)
        #expect(text.hasPrefix("Safe to deploy") == isSafe, about)
        #expect(text.contains("Safe to deploy") == isSafe, about)
        #expect(check.exitCode == (isSafe ? 0 : 1), about)
        switch (newlyFailing > 0, isBreaking) {
        case (false, false): return "safe"
        case (true, false): return "documents"
        case (false, true): return "change"
        case (true, true): return "documents and change"
        }
    }
}

/// Two versions of a schema that differ in at most two fields, and documents, most of which fit the older version.
private struct SchemaPair: Sendable {
    let seed: Int
    let old: String
    let new: String
    let documents: [BSONDocument]

    private struct Field {
        var name: String
        var type: String
        var isRequired: Bool
        var bound: Int?
    }

    private static let types = ["string", "int", "long", "double", "bool", "object", "array"]

    init(seed: Int) {
        self.seed = seed
        var random = Randomness(seed: 0x5EED_0000 + UInt64(seed))
        var fields = (0..<1 + random.below(4)).map { number in
            Field(name: "f\(number)", type: random.pick(Self.types), isRequired: random.percent(40))
        }
        old = Self.text(fields)
        let before = fields
        // On average, both versions are the same in at least 12 % of the pairs. In half of the other pairs, the newer
        // version only adds fields or bounds.
        let onlyGains = random.percent(50)
        for number in 0..<(random.percent(12) ? 0 : 1 + random.below(2)) {
            let index = random.below(fields.count)
            switch onlyGains ? random.below(2) : random.below(6) {
            case 0:
                fields.append(
                    Field(name: "n\(number)", type: random.pick(Self.types), isRequired: random.percent(35)))
            case 1: if fields[index].type == "int" { fields[index].bound = random.below(100) }
            case 2: fields[index].type = random.pick(Self.types)
            case 3: fields[index].isRequired.toggle()
            case 4 where fields.count > 1: fields.remove(at: index)
            default: fields[index].name += "x"
            }
        }
        new = Self.text(fields)
        let after = fields
        documents = (0..<20).map { id in
            var builder = BSONBuilder()
            builder.append("_id", .integer(id))
            var named: Set<String> = []
            for field in random.percent(80) ? before + after : before where named.insert(field.name).inserted {
                if !field.isRequired, random.percent(15) { continue }
                builder.append(field.name, Self.value(random.percent(2) ? "bool" : field.type, &random))
            }
            return builder.finish()
        }
    }

    private static func value(_ type: String, _ random: inout Randomness) -> BSONValue {
        switch type {
        case "string": .string("t\(random.below(1_000))")
        case "int": .int(Int32(random.below(100)))
        case "long": .long(Int64(random.below(1_000)))
        case "double": .double(Double(random.below(1_000)) + 0.5)
        case "bool": .bool(random.percent(50))
        case "object": ["inner": .string("x")]
        default: ["a", "b"]
        }
    }

    private static func text(_ fields: [Field]) -> String {
        let properties = fields.map { field in
            let rest =
                switch field.type {
                case "object": #", "title": "Inner", "properties": { "inner": { "bsonType": "string" } }"#
                case "array": #", "items": { "bsonType": "string" }"#
                default: field.bound.map { #", "maximum": \#($0)"# } ?? ""
                }
            return #""\#(field.name)": { "bsonType": "\#(field.type)"\#(rest) }"#
        }
        let required = ["_id"] + fields.filter(\.isRequired).map(\.name)
        return """
            { "title": "Task", "bsonType": "object", "required": \
            [\(required.map { "\"\($0)\"" }.joined(separator: ", "))],
              "properties": { "_id": { "bsonType": "int" }, \(properties.joined(separator: ", ")) } }
            """
    }

    func compiled(_ text: String, _ namespace: Namespace) throws -> CompiledSchema {
        try CompiledSchema(namespace, text)
    }
}
