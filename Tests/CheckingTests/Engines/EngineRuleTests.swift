import BSON
import Conformance
import Proving
import ServerSchema
import Testing

@testable import Checking

extension CompiledSchema {
    /// Compiles the rules of an engine for a collection without a schema.
    static func of(_ settings: EngineSettings) -> CompiledSchema {
        var schema = CollectionSchema(
            namespace: Namespace(database: "app", collection: "Task"),
            root: SchemaNode(location: SchemaNode.nowhere))
        schema.dialect = .jsonSchema
        var options = CheckOptions()
        options.engine = settings
        return CompiledSchema(schema, options: options)
    }
}

@Suite struct EngineRuleTests {
    @Test(arguments: EngineCase.all) func aDocumentBreaksTheRuleAndAnotherJustDoesNot(_ test: EngineCase) throws {
        let schema = CompiledSchema.of(try test.settings)
        let rule = try #require(test.rule)
        let found = try schema.findings(test.breaks).filter { $0.hasPrefix("\(test.code) ") }
        #expect(found == ["\(test.code) \(rule.level) \(test.finding)"])
        #expect(try schema.findings(test.fits).filter { $0.hasPrefix("\(test.code) ") } == [])
        #expect(try schema.verdict(test.breaks) >= Verdict(rule.level))
        #expect(try schema.validate(test.breaks.view) == schema.verdict(test.breaks))
    }

    /// Every rule has an ``EngineCase``, except for rules that compare documents or need a schema, which have their own
    /// tests.
    @Test func everyRuleHasACase() {
        let others = ["powersync-id-text", "couchbase-id-text", "any-id-text", "rxdb-schema"]
        #expect(Set(EngineCase.all.map(\.code)).union(others) == Set(EngineRule.all.map(\.code.rawValue)))
        #expect(Set(EngineRule.all.map(\.code)).count == EngineRule.all.count)
    }

    @Test func theColumnsFollowFromTheTypesOfTheSchema() throws {
        var options = CheckOptions()
        options.engine = EngineSettings(.powersync)
        let schema = CompiledSchema(
            ["n": .of(.long), "r": .of(.double), "s": .of(.string), "any": .of(.mixed), "both": .of(.int, .string)],
            options: options)
        let document: BSONDocument = ["_id": 1, "n": "x", "r": "x", "s": 1, "any": "x", "both": "x"]
        #expect(
            try schema.findings(document).filter { $0.hasPrefix("powersync-type") } == [
                "powersync-type certain n: value that an integer column holds / string that is no such number",
                "powersync-type certain r: value that a real column holds / string that is no such number",
            ])
    }

    /// The settings of PowerSync with a column of each type that holds numbers.
    private static var numbers: EngineSettings {
        var settings = EngineSettings(.powersync)
        settings.columns = ["Task": ["whole": .integer, "real": .real]]
        return settings
    }

    /// SQLite 3.40 casts each of these texts to the number that the text spells.
    @Test(arguments: ["12", "12.0", "12.", " 12", "12 ", "\n12", "+12", "007", "-0", "9007199254740992"])
    func aTextThatIsANumberIsOnlyChanged(_ text: String) throws {
        let schema = CompiledSchema.of(Self.numbers)
        for field in ["whole", "real"] {
            #expect(
                try schema.findings(["_id": "a", field: .string(text)]) == [
                    "powersync-mapping info \(field): text, integer or real / string that is a number"
                ])
            #expect(try schema.verdict(["_id": "a", field: .string(text)]) == .fits)
        }
    }

    /// SQLite 3.40 casts each of these texts to an integer that differs from the text, for example "12abc" to 12.
    @Test(arguments: ["12.5", "1e3", "0x10", "12abc", "1_0", "- 5", "1 2", "", " ", "-", "99999999999999999999"])
    func aTextOfWhichTheCastDropsAPartIsLost(_ text: String) throws {
        #expect(
            try CompiledSchema.of(Self.numbers).findings(["_id": "a", "whole": .string(text)]) == [
                "powersync-type certain whole: value that an integer column holds / string that is no such number"
            ])
    }

    @Test func aDecimalArrivesAsTextWhichTheCastCutsOff() throws {
        let schema = CompiledSchema.of(Self.numbers)
        func lost(_ field: String, _ value: BSONValue) throws -> [String] {
            try schema.findings(["_id": "a", field: value]).filter { $0.hasPrefix("powersync-type") }
        }
        let real = "powersync-type certain real: value that a real column holds / decimal"
        #expect(try lost("real", .decimalNaN) == ["\(real) NaN"])
        #expect(try lost("real", .decimalInfinity) == ["\(real) infinity"])
        #expect(try lost("real", .decimal(coefficient: 1, exponent: -1)) == [])
        #expect(try lost("real", .decimal(coefficient: 1, exponent: 3)) == [])
        #expect(
            try lost("whole", .decimal(coefficient: 1, exponent: 3)) == [
                "powersync-type certain whole: value that an integer column holds / decimal whose text is cut off "
                    + "before its exponent"
            ])
        #expect(try lost("whole", .decimal(coefficient: 100, exponent: -2)) == [])
    }

    @Test func aDocumentThatDoesNotFitTheSchemaMayHaltRxDB() throws {
        var options = CheckOptions()
        options.engine = EngineSettings(.rxdb)
        let schema = CompiledSchema(["_id": .of(.string), "name": .of(.string)], options: options)
        #expect(
            try schema.findings(["_id": "a", "name": 1]) == [
                "type-mismatch certain name: string / int",
                "rxdb-schema possible (root): document that fits the schema / document that does not fit",
            ])
        #expect(try schema.findings(["_id": "a", "name": "b"]) == [])
    }

    /// Sync Gateway refuses these names (its `db/validation.go` and `db/revision.go`), but keeps names that only begin
    /// alike.
    @Test(arguments: [
        "_sync_", "_sync_x", "_sync_a_longer_name", "_sync", "_cv", "_rev", "_exp", "_purged", "_removed",
    ])
    func couchbaseReservedNamesAreReported(_ name: String) throws {
        var options = CheckOptions()
        options.engine = EngineSettings(.couchbase)
        let finding = "couchbase-reserved certain \(name): no such field / int"
        let schemas = [
            CompiledSchema.of(EngineSettings(.couchbase)), CompiledSchema([name: .of(.int)], options: options),
            CompiledSchema(["a": .of(.int), name: .of(.int), "z": .of(.int)], options: options),
        ]
        for schema in schemas {
            for document in [["_id": "k", name: 1], ["_id": "k", "a": 1, name: 1, "z": 1]] as [BSONDocument] {
                let findings = try schema.findings(document).filter { $0.hasPrefix("couchbase-reserved ") }
                #expect(findings == [finding])
                #expect(try schema.verdict(document) == .certain)
            }
        }
    }

    @Test(arguments: ["_syn", "_syncs", "_Sync_x", "x_sync_", "sync_", "_type", "_cvs"])
    func otherNamesWithAnUnderscoreArriveInCouchbase(_ name: String) throws {
        #expect(try CompiledSchema.of(EngineSettings(.couchbase)).findings(["_id": "k", name: 1]) == [])
    }

    @Test func deviceSyncHasOnlyTheRulesOfItsSchemas() throws {
        var options = CheckOptions()
        options.engine = EngineSettings(.deviceSync)
        let schema = CompiledSchema(["name": .of(.string)], options: options)
        #expect(!schema.hasEngine)
        #expect(try schema.verdict(["_id": 1, "name": "x", "at": .date(milliseconds: .max)]) == .fits)
    }

    @Test func anUnknownEngineNamesAllEnginesAndTheNearest() throws {
        let error = try #require(throws: UnknownEngine.self) { try EngineSettings(parsing: "powersink") }
        #expect(error.description.contains("did you mean \"powersync\"?"))
        for engine in Engine.allCases { #expect(error.description.contains(engine.rawValue)) }
    }
}
