import BSON
import SchemaChange
import ServerSchema
import Testing

@testable import Planning

/// Tests the steps that the operator states with `--combine`, `--split` and `--embed`.
@Suite struct StatedStepTests {
    private static let text = #"{ "bsonType": "string" }"#

    private static func schema(_ fields: String, required: String = "") throws -> ServerSchema {
        try ServerSchema.read(
            text: """
                { "title": "Person", "bsonType": "object", "required": ["_id"\(required)],
                  "properties": { "_id": { "bsonType": "objectId" }, \(fields) } }
                """, namespace: Namespace(database: "app", collection: "Person"))
    }

    private static func texts(_ names: String...) -> String {
        names.map { "\"\($0)\": \(text)" }.joined(separator: ", ")
    }

    private func plan(
        _ old: String, _ new: String, required: String = "", _ steps: [(StatedStep.Kind, String)]
    ) throws -> CollectionPlan {
        var options = PlanOptions()
        options.steps = try steps.map { try #require(StatedStep($0, $1)) }
        let planner = Planner(
            from: try Self.schema(old), to: try Self.schema(new, required: required), options: options)
        let plan = try planner.plan()
        for job in plan.jobs { _ = try planner.compiled(job) }
        return try #require(plan.collections.first)
    }

    @Test func fieldsAreCombinedInTheStatedOrderBeforeTheTextIsFilled() throws {
        let plan = try plan(
            Self.texts("first", "last"), Self.texts("full"), required: ", \"full\"",
            [(.combine, "Person.last,first=full")])
        let steps = plan.jobs[0].steps.map(\.text)
        #expect(
            steps.first
                == "combine: {into: full, template: \"{last} {first}\", whenPresent: refresh, when: missingOrNull}")
        #expect(steps.last == "default: {field: full, value: \"\", when: missingOrNull}")
        let entry = try #require(plan.jobs[0].entries.first { $0.step?.kind == "combine" })
        #expect(entry.changes.map(\.code) == [.requiredAdded])
        #expect(entry.remarks == ["--combine Person.last,first=full states it"])
        #expect(plan.jobs[0].entries.allSatisfy { $0.hint == nil })
    }

    @Test func aTextIsSplitBeforeItsParts() throws {
        let plan = try plan(Self.texts("name"), Self.texts("a", "b"), [(.split, "app.Person.name=b,a")])
        let steps = plan.jobs[0].steps.map(\.text)
        #expect(steps.first == "split: {field: name, by: \" \", into: [b, a], whenPresent: refresh}")
        #expect(steps.count { $0.hasPrefix("split") } == 1)
        #expect(plan.jobs[0].entries.allSatisfy { $0.hint == nil })
    }

    @Test func fieldsInsideAnObjectAreNamedByItsPathOnce() throws {
        let object = { (fields: String) in
            "\"a\": { \"title\": \"A\", \"bsonType\": \"object\", \"properties\": { \(fields) } }"
        }
        let plan = try plan(
            object(Self.texts("x", "y")), object(Self.texts("z")), [(.combine, "Person.a.x,y=z")])
        #expect(plan.jobs[0].steps.first?.text == "combine: {into: a.z, template: \"{a.x} {a.y}\"}")
    }

    /// A plan suggests `--combine` and `--split` flags.
    ///
    /// The next plan accepts the suggested `--combine`.
    @Test func theSuggestedFlagsAreAccepted() throws {
        let combined = try plan(Self.texts("first", "last"), Self.texts("full"), [])
        #expect(
            combined.jobs[0].entries.compactMap(\.hint) == [
                "Person.full may replace first and last: if so, plan again with --combine app.Person.first,last=full"
            ])
        #expect(
            try plan(
                Self.texts("first", "last"), Self.texts("full"), [(.combine, "app.Person.first,last=full")]
            ).jobs[0].steps.first?.kind == "combine")
        let split = try plan(Self.texts("name"), Self.texts("a", "b"), [])
        #expect(split.jobs[0].entries.compactMap(\.hint)[0].contains("--split app.Person.name=a,b;"))
    }

    @Test(arguments: [
        (StatedStep.Kind.combine, "Persn.first,last=full", "app.Person has no property \"Persn\""),
        (.combine, "Person.first,lst=full", "no field \"lst\" next to first (did you mean \"last\"?)"),
        (.combine, "Person.first,last=ful", "adds no field \"ful\" (did you mean \"full\"?)"),
        (.combine, "Person.first,list=full", ", and the step reads texts and whole numbers"),
        (.combine, "Person.first,last=count", "the step makes texts, and count is int"),
        (.combine, "Person.first,a.b=full", "\"a.b\" is not the name of a field in the object of the first one"),
        (.split, "Person.list=full,other", ", and the step reads a text"),
        (.embed, "Person.first", "the field holds no links that become embedded objects"),
    ])
    func aFieldThatDoesNotSuitIsNamed(_ kind: StatedStep.Kind, _ text: String, _ message: String) throws {
        let list = "\"list\": { \"bsonType\": \"array\", \"items\": \(Self.text) }"
        let error = #expect(throws: PlanError.self) {
            try plan(
                Self.texts("first", "last") + ", " + list,
                Self.texts("full", "other") + ", \"count\": { \"bsonType\": \"int\" }", [(kind, text)])
        }
        let found = error?.description ?? ""
        #expect(found.hasPrefix("--\(kind.rawValue) \(text): "), "\(found)")
        #expect(found.contains(message), "\(found)")
    }

    @Test(arguments: [
        (StatedStep.Kind.combine, "Person.a=b"), (.combine, "Person.a,b"), (.combine, "Person.a,=b"),
        (.combine, "a,b=c=d"), (.split, "Person.a,b=c,d"), (.split, "Person.a=b"), (.embed, "Person.a=b"), (.embed, ""),
    ])
    func aTextOfAnotherFormIsRefused(_ kind: StatedStep.Kind, _ text: String) {
        #expect(StatedStep(kind, text) == nil)
    }
}
