import BSON
import SchemaChange
import ServerSchema
import Testing

@testable import Planning

/// Tests that every planned job can be run.
@Suite struct PlannedStepsTests {
    /// Returns the plan for one collection, after checking that each of its jobs compiles as for a run.
    private func plan(
        _ old: String, _ new: String, renames: [String] = [], isValidator: Bool = false
    ) throws -> CollectionPlan {
        var options = PlanOptions()
        options.renames = try renames.map { try Rename($0) }
        let planner = Planner(
            from: try Self.schema(old, isValidator), to: try Self.schema(new, isValidator), options: options)
        let plan = try planner.plan()
        for job in plan.jobs { _ = try planner.compiled(job) }
        return try #require(plan.collections.first)
    }

    private static func schema(_ parts: String, _ isValidator: Bool) throws -> ServerSchema {
        let text =
            isValidator
            ? "{ \"$jsonSchema\": { \"bsonType\": \"object\", \(parts) } }"
            : "{ \"title\": \"T\", \"bsonType\": \"object\", \(parts) }"
        return try ServerSchema.read(text: text, namespace: Namespace(database: "app", collection: "T"))
    }

    private static func app(_ properties: String, required: String = "") -> String {
        "\"required\": [\"_id\"\(required)], \"properties\": { \"_id\": { \"bsonType\": \"objectId\" }, \(properties) }"
    }

    private func lines(_ plan: CollectionPlan, _ stage: Stage) -> [String] {
        plan.jobs.filter { $0.stage == stage }.flatMap(\.steps).map(\.text)
    }

    private static let text = "{ \"bsonType\": \"string\" }"
    private static let texts = "{ \"bsonType\": \"array\", \"items\": \(text) }"

    @Test func aFieldOfARenamedObjectIsCopiedBeforeItIsFilledAndTakenOutBeforeTheObjectGoes() throws {
        let object = { (fields: String, required: String) in
            "{ \"title\": \"E\", \"bsonType\": \"object\", \"required\": [\(required)], \"properties\": { \(fields) } }"
        }
        let plan = try plan(
            Self.app("\"addr\": " + object("\"zip\": \(Self.text)", "\"zip\"")),
            Self.app("\"address\": " + object("\"postcode\": \(Self.text)", "\"postcode\"")),
            renames: ["T.addr=address", "T.addr.zip=postcode"])
        #expect(
            lines(plan, .beforeDeploy).prefix(2) == [
                "copy: {from: addr, to: address, whenPresent: keep}",
                "copy: {from: addr.zip, to: address.postcode, when: missingOrNull}",
            ])
        #expect(
            lines(plan, .afterDeploy) == [
                "rename: {from: addr.zip, to: address.postcode, when: missingOrNull}",
                "rename: {from: addr, to: address, whenPresent: keep}",
            ])
    }

    @Test func aFieldOfAnObjectThatAValidatorMovesIsReadInItsNewPlace() throws {
        let object = { (field: String) in
            "{ \"bsonType\": \"object\", \"additionalProperties\": false, \"properties\": { \"\(field)\": "
                + "\(Self.text) } }"
        }
        let parts = { (name: String, field: String) in
            "\"additionalProperties\": false, \"properties\": { \"_id\": {}, \"\(name)\": \(object(field)) }"
        }
        let plan = try plan(
            parts("addr", "zip"), parts("address", "postcode"),
            renames: ["app.T.addr=address", "app.T.addr.zip=postcode"],
            isValidator: true)
        let steps = lines(plan, .whileWarning).filter { $0.hasPrefix("rename") }
        #expect(steps.count == 2)
        #expect(steps.first?.hasPrefix("rename: {from: addr, to: address") == true)
        #expect(steps.last?.hasPrefix("rename: {from: address.zip, to: address.postcode") == true)
    }

    @Test func aFieldOfARenamedListsElementsIsReadInTheNewList() throws {
        let list = { (field: String) in
            "{ \"bsonType\": \"array\", \"items\": { \"title\": \"E\", \"bsonType\": \"object\", "
                + "\"required\": [\"\(field)\"], \"properties\": { \"\(field)\": \(Self.text) } } }"
        }
        let plan = try plan(
            Self.app("\"p\": " + list("x")), Self.app("\"q\": " + list("y")), renames: ["T.p=q", "E.x=y"])
        #expect(
            lines(plan, .beforeDeploy).prefix(2) == [
                "copy: {from: p, to: q, whenPresent: keep}",
                "copy: {from: \"q[].x\", to: \"q[].y\", when: missingOrNull}",
            ])
    }

    @Test func aValidatorsOptionalListOfOneBecomesItsValue() throws {
        let plan = try plan(
            "\"properties\": { \"t\": \(Self.texts) }", "\"properties\": { \"t\": \(Self.text) }", isValidator: true)
        #expect(
            lines(plan, .whileWarning) == [
                "expression: {field: t, value: null, when: {$eq: [\"$t\", []]}}", "unwrap: {field: t}",
                "unset: {field: t, when: \"null\"}",
            ])
    }

    @Test func theNullThatTakesAnEmptyListsPlaceIsFilledWhereAValueIsRequired() throws {
        let plan = try plan(
            Self.app("\"t\": \(Self.texts)", required: ", \"t\""), Self.app("\"t\": \(Self.text)", required: ", \"t\""))
        #expect(
            lines(plan, .afterDeploy) == [
                "expression: {field: t, value: null, when: {$eq: [\"$t\", []]}}", "unwrap: {field: t}",
                "default: {field: t, value: \"\", when: missingOrNull}",
            ])
    }

    @Test func anEmptyListStaysWhereNoValueTakesItsPlace() throws {
        let key = "{ \"bsonType\": \"objectId\" }"
        let plan = try plan(
            Self.app("\"t\": { \"bsonType\": \"array\", \"items\": \(key) }", required: ", \"t\""),
            Self.app("\"t\": \(key)", required: ", \"t\""))
        #expect(lines(plan, .afterDeploy) == ["unwrap: {field: t}"])
    }

    @Test func theNullsOfAnyValueAreNoTexts() throws {
        let plan = try plan(Self.app("\"t\": { \"bsonType\": \"mixed\" }"), Self.app("\"t\": \(Self.texts)"))
        #expect(lines(plan, .afterDeploy).last == "drop-nulls: {field: t}")
    }

    @Test func moreStepsThanAJobHoldsAreSeveralJobs() throws {
        let names = (10...69).map { "f\($0)" }
        let fields = names.map { "\"\($0)\": \(Self.text)" }.joined(separator: ", ")
        let required = names.map { ", \"\($0)\"" }.joined()
        let plan = try plan(
            Self.app("\"a\": \(Self.text)"), Self.app("\"a\": \(Self.text), \(fields)", required: required))
        #expect(plan.jobs.map(\.steps.count) == [100, 20])
        #expect(plan.jobs[0].name.hasSuffix("-1") && plan.jobs[1].name.hasSuffix("-2"))
        #expect(lines(plan, .beforeDeploy).last == "default: {field: f69, value: \"\", when: missingOrNull}")
    }

    private static func list(_ properties: String, required: String = "") -> String {
        "\"p\": { \"bsonType\": \"array\", \"items\": { \"title\": \"E\", \"bsonType\": \"object\", "
            + "\"required\": [\(required)], \"properties\": { \(properties) } } }"
    }

    @Test func anOptionalFieldOfElementsIsFilledBeforeTheDeploy() throws {
        let number = "\"x\": { \"bsonType\": \"int\" }"
        let plan = try plan(Self.app(Self.list(number)), Self.app(Self.list(number, required: "\"x\"")))
        #expect(
            lines(plan, .beforeDeploy) == ["default: {field: \"p[].x\", value: 0, when: missingOrNull}"])
        #expect(plan.jobs.count == 1)
    }

    @Test(arguments: [false, true]) func aValueThatTheOlderSchemaMayRefuseWaitsForTheDeploy(_ isElement: Bool) throws {
        let field = { (limit: String) in "\"x\": { \"bsonType\": \"int\"\(limit) }" }
        let (old, new) = (field(", \"minimum\": 5"), field(""))
        let plan =
            isElement
            ? try plan(Self.app(Self.list(old)), Self.app(Self.list(new, required: "\"x\"")))
            : try plan(Self.app(old), Self.app(new, required: ", \"x\""))
        #expect(plan.jobs.map(\.stage) == [.afterDeploy])
    }

    @Test func removalsAreOfferedInTheJobAfterTheDeploy() throws {
        let plan = try plan(
            Self.app("\"gone\": \(Self.text), \"n\": \(Self.text)"),
            Self.app("\"n\": { \"bsonType\": \"int\" }, \"come\": { \"bsonType\": \"bool\" }", required: ", \"come\""))
        #expect(plan.jobs.map(\.stage) == [.beforeDeploy, .afterDeploy])
        #expect(!plan.jobs[0].entries.flatMap(\.suggestions).contains { $0.kind == "unset" })
        #expect(plan.jobs[1].entries.flatMap(\.suggestions).contains { $0.text == "unset: {field: gone}" })
    }

    @Test func aPartitionKeyNeverGetsOneValueForAllByItself() throws {
        func schema(_ parts: String) throws -> ServerSchema {
            var schema = try Self.schema(parts, false)
            schema.sync = SyncConfiguration(
                mode: .partition(.init(field: "q", type: .string)), location: SourceLocation(whole: "sync"))
            return schema
        }
        let planner = Planner(
            from: try Self.schema(Self.app("\"q\": \(Self.text)"), false),
            to: try schema(Self.app("\"q\": \(Self.text)", required: ", \"q\"")))
        let plan = try planner.plan()
        #expect(plan.jobs.isEmpty)
        #expect(
            plan.entries.filter { $0.role == .manual }.flatMap(\.suggestions).map(\.text) == [
                "default: {field: q, value: \"\", when: missingOrNull}"
            ])
    }

    @Test func theDocumentsOfAMovedCollectionAreFilledOnceTheyAreCopied() throws {
        func schema(_ collection: String, _ parts: String) throws -> ServerSchema {
            try ServerSchema.read(
                text: "{ \"title\": \"T\", \"bsonType\": \"object\", \(parts) }",
                namespace: Namespace(database: "app", collection: collection))
        }
        var options = PlanOptions()
        options.renames = [try Rename("app.c=app.d")]
        let planner = Planner(
            from: try schema("c", Self.app("\"a\": \(Self.text)")),
            to: try schema("d", Self.app("\"b\": { \"bsonType\": \"int\" }", required: ", \"b\"")), options: options)
        var plan = try planner.plan()
        plan.completeWithoutData()
        #expect(plan.unplanned == 1, "the documents have to be copied")
        let job = try #require(plan.jobs.first { $0.namespace.collection == "d" })
        #expect(job.stage == .afterDeploy)
        #expect(job.steps.last?.text == "default: {field: b, value: 0, when: missingOrNull}")
        _ = try planner.compiled(job)
    }
}
