import BSON
import Conformance
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

    /// The rules that compare documents, or need a schema, have tests of their own.
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

    @Test func deviceSyncHasOnlyTheRulesOfItsSchemas() throws {
        var options = CheckOptions()
        options.engine = EngineSettings(.deviceSync)
        let schema = CompiledSchema(["name": .of(.string)], options: options)
        #expect(!schema.hasEngine)
        #expect(try schema.verdict(["_id": 1, "name": "x", "at": .date(milliseconds: .max)]) == .fits)
    }

    @Test func anUnknownEngineNamesAllEnginesAndTheNearest() throws {
        guard case .failure(let error) = Engine.named("powersink") else {
            Issue.record("there is such an engine")
            return
        }
        #expect(error.description.contains("did you mean \"powersync\"?"))
        for engine in Engine.allCases { #expect(error.description.contains(engine.rawValue)) }
    }
}
