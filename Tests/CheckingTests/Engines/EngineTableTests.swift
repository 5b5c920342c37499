import BSON
import Foundation
import ServerSchema
import Testing

@testable import Checking

/// Compares the rules with `Tables/documents.jsonl`: documents, and their outcomes in the sources of PowerSync and of
/// RxDB.
@Suite struct EngineTableTests {
    @Test func theTableHasManyDocumentsOfEachOutcome() throws {
        let rows = try EngineRow.all()
        #expect(rows.count >= 2_000)
        for outcome in ["halts", "dropped", "arrives"] { #expect(rows.count { $0.outcome == outcome } >= 50) }
        var types: [String: Set<BSONType>] = [:]
        var broken: Set<RuleCode> = []
        for row in rows {
            let document = try row.document()
            for (place, found) in try row.types(in: document.view) { types[place, default: []].formUnion(found) }
            broken.formUnion(try row.findings().map(\.rule))
        }
        for place in ["top", "nested", "_id"] { #expect(types[place] == Set(BSONType.allStored), "\(place)") }
        // Two documents together break the rule about equal texts, and the client's SQLite has a limit of columns.
        var expected = Set(EngineRule.all(of: .powersync).filter { $0.level > .info }.map(\.code))
        expected.subtract([Rule.powersyncIDText.code, Rule.powersyncColumns.code])
        #if DEBUG
        expected.subtract([Rule.powersyncRow.code, Rule.powersyncSize.code])
        #endif
        #expect(broken == expected)
    }

    @Test func theWorstOutcomeIsThatOfTheEngine() throws {
        var differences: [String] = []
        for row in try EngineRow.all() {
            let worst = try row.findings().compactMap { EngineRule.named($0.rule)?.outcome }.max()
            let isEqual =
                switch row.outcome {
                case "halts": worst == .halts
                case "dropped": worst == .dropped
                default: row.id == "" ? worst == .dropped : worst == nil || worst == .lostValue
                }
            if !isEqual { differences.append("\(row): \(worst?.rawValue ?? "arrives")") }
        }
        #expect(differences == [])
    }

    @Test func theLostFieldsAreThoseOfTheEngine() throws {
        var differences: [String] = []
        for row in try EngineRow.all() where row.outcome == "arrives" {
            var lost: Set<String> = []
            for finding in try row.findings() where EngineRule.named(finding.rule)?.outcome == .lostValue {
                if case .field(let name)? = finding.path.steps.first, name != "_id" { lost.insert(name) }
            }
            if lost != Set(row.lost ?? []) { differences.append("\(row): \(lost)") }
        }
        #expect(differences == [])
    }

    @Test func theTextOfEachIDIsThatOfTheEngine() throws {
        let schema = CompiledSchema.of(EngineSettings(.powersync))
        var differences: [String] = []
        for row in try EngineRow.all() where row.outcome == "arrives" && row.id != nil && row.id != "" {
            let document = try row.document()
            let text = try schema.idText(of: document.view).map { String(decoding: $0, as: UTF8.self) }
            if text != row.id { differences.append("\(row): \(text ?? "nil")") }
        }
        #expect(differences == [])
    }

    @Test func theOutcomeInRxDBIsThatOfItsPlugin() throws {
        let schema = CompiledSchema.of(EngineSettings(.rxdb))
        var differences: [String] = []
        for row in try EngineRow.all() where row.rxdb != nil {
            let document = try row.document()
            let rules = try schema.violations(in: document.view, includingInfo: false).map(\.rule)
            let isHalted = rules.contains { EngineRule.named($0)?.outcome == .halts }
            if isHalted != (row.rxdb == "halts") { differences.append("\(row): \(rules)") }
        }
        #expect(differences == [])
    }

    /// Each document is also judged with one byte changed at random.
    @Test(arguments: Engine.allCases)
    func theWalkerFindsTheSameWithoutItsQuickLoops(_ engine: Engine) throws {
        let rows = try EngineRow.all().filter { $0.bson != nil }
        for row in rows {
            var document = try row.document()
            var names = try row.names(in: document.view).shuffled()
            names.removeLast(names.count / 3)
            var settings = EngineSettings(engine)
            settings.columns["Person"] = names.reduce(into: [:]) { columns, name in
                columns[name] = EngineSettings.ColumnType.allCases.randomElement()
            }
            var options = CheckOptions()
            options.engine = settings
            let root = SchemaNode.of(.object).with { $0.properties = names.map { .init(name: $0, node: .of(.mixed)) } }
            guard let plan = CompiledSchema(root: root, options: options).engine else { return }
            var slow = plan
            slow.facts.quick = []
            for _ in 0..<4 {
                let findings = plan.findings(in: document)
                #expect(findings == slow.findings(in: document), "\(names) \(document.bytes)")
                var bytes = try row.document().bytes
                let values: [UInt8] = [0, 1, 2, 4, 5, 0x41, 0x80, .random(in: 0...255)]
                bytes[Int.random(in: 4..<bytes.count - 1)] = values.randomElement() ?? 0
                document = try BSONDocument(bytes: bytes)
            }
        }
    }

    @Test func theSizeOfEachRowIsThatOfTheEngine() throws {
        var differences: [String] = []
        // A row keeps one value of each name.
        let others = ["name", "repeated", "repeated far", "three", "two bad names", "bad and replaced name"]
        for row in try EngineRow.all() where row.units != nil && !others.contains(row.kind) {
            let document = try row.document()
            let size = try JSONText.rowSize(of: document.view)
            if size.units != row.units || size.bytes != row.bytes { differences.append("\(row): \(size)") }
        }
        #expect(differences == [])
    }
}

/// A row of the table: a document, and the engine's outcome for it.
private struct EngineRow: Decodable, CustomStringConvertible {
    var kind: String
    var outcome: String
    /// The document's bytes, in base64; `nil` for a large document, which the other fields describe.
    var bson: String?
    /// The outcome in RxDB; `nil` if it is not known.
    var rxdb: String?
    /// The engine's reason for an outcome other than "arrives".
    var why: String?
    /// The id of the row.
    var id: String?
    /// The top-level fields of which the row lacks a value.
    var lost: [String]?
    /// The length of the row's JSON in UTF-16 units, and in bytes of UTF-8.
    var units: Int?
    var bytes: Int?
    /// The type of the column with the name `x`.
    var column: String?
    var text: String?
    var times: Int?
    var more: String?
    var extra: Int?

    /// Returns the rows of the table.
    ///
    /// An unoptimized build leaves out the documents of many megabytes, for which a sanitizer would take an hour.
    static func all() throws -> [Self] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Tables/documents.jsonl")
        var rows: [Self] = []
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            rows.append(try JSONDecoder().decode(Self.self, from: Data(line.utf8)))
        }
        #if DEBUG
        rows.removeAll { max($0.times ?? 0, $0.extra ?? 0) > 10_000 }
        #endif
        return rows
    }

    var description: String { "\(kind) \(outcome) \(why ?? "") \(id ?? "") \(lost ?? []) \(bson?.prefix(120) ?? "")" }

    func document() throws -> BSONDocument {
        if let bson {
            let bytes = try #require(Data(base64Encoded: bson))
            return try BSONDocument(bytes: Array(bytes))
        }
        var fields: [(String, BSONValue)] = [
            ("_id", 7), ("t", .string(String(repeating: text ?? "", count: times ?? 0))),
        ]
        if let more, !more.isEmpty { fields.append(("u", .string(String(repeating: more, count: extra ?? 0)))) }
        return BSONDocument(fields)
    }

    func names(in view: borrowing BSONView) throws -> [String] {
        var names: [String] = []
        var position = view.firstPosition
        while let element = try view.next(&position) { names.append(view.name(element)) }
        return names
    }

    /// Returns the types of a document's values at the top level, inside other values, and in `_id`.
    func types(in view: borrowing BSONView, at outer: String? = nil) throws -> [String: Set<BSONType>] {
        var types: [String: Set<BSONType>] = [:]
        var position = view.firstPosition
        while let element = try view.next(&position) {
            let isID = outer == nil && view.name(element) == "_id"
            types[outer ?? (isID ? "_id" : "top"), default: []].insert(element.type)
            guard element.type == .object || element.type == .array else { continue }
            let inner = try self.types(in: view.document(element), at: isID ? "_id" : outer ?? "nested")
            types.merge(inner) { $0.union($1) }
        }
        return types
    }

    func findings() throws -> [Violation] {
        var settings = EngineSettings(.powersync)
        if let name = column, let column = EngineSettings.ColumnType(rawValue: name) {
            settings.columns = ["Task": ["x": column]]
        }
        let schema = CompiledSchema.of(settings)
        let document = try document()
        let findings = try schema.violations(in: document.view, includingInfo: false)
        let verdict = try schema.check(document.view)
        #expect(verdict == (findings.isEmpty ? .fits : .certain), "\(self)")
        return findings
    }
}

extension EnginePlan {
    /// Returns what the walker finds in a document; an error after findings if the walker reads damaged bytes.
    fileprivate func findings(in document: BSONDocument) -> [String] {
        var collector = FindingCollector(minimum: .warning)
        do throws(BSONError) {
            try EngineWalker(self).document(document.view, into: &collector)
        } catch {
            return collector.located.map { "\($0)" } + ["\(error)"]
        }
        return collector.located.map { "\($0)" }
    }
}

extension BSONType {
    /// All types that a document can hold.
    fileprivate static let allStored: [BSONType] = [
        .double, .string, .object, .array, .binData, .undefined, .objectId, .bool, .date, .null, .regex, .dbPointer,
        .javascript, .symbol, .javascriptWithScope, .int, .timestamp, .long, .decimal, .minKey, .maxKey,
    ]
}
