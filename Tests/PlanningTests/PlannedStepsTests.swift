import BSON
import SchemaChange
import ServerSchema
import Testing

@testable import Planning

/// Every planned job is one that a run takes.
@Suite struct PlannedStepsTests {
    /// The plan for one collection, each of whose jobs has been compiled as for a run.
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
                "copy: {from: addr, to: address, whenPresent: keep}", "copy: {from: addr.zip, to: address.postcode}",
            ])
        #expect(
            lines(plan, .afterDeploy) == [
                "rename: {from: addr.zip, to: address.postcode}",
                "rename: {from: addr, to: address, whenPresent: keep}",
            ])
    }

    @Test func aFieldOfAnObjectThatAValidatorMovesIsReadInItsNewPlace() throws {
        let object = { (field: String) in
            "{ \"bsonType\": \"object\", \"additionalProperties\": false, \"properties\": { \"\(field)\": \(Self.text) } }"
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
                "copy: {from: p, to: q, whenPresent: keep}", "copy: {from: \"q.[].x\", to: \"q.[].y\"}",
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
}
