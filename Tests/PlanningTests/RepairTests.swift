import BSON
import Checking
import ServerSchema
import Testing

@testable import Planning

/// Tests the steps that are planned for the findings of a check, without a survey of the documents.
@Suite struct RepairTests {
    @Test(arguments: RuleCode.known)
    func everyRuleHasARepairOrAReasonWhyThereIsNone(_ rule: RuleCode) throws {
        switch try #require(Repair(of: rule)) {
        case .decision(let reason), .unneeded(let reason): #expect(reason.count > 20)
        case .conversion, .presence, .nullRemoval, .deduplication, .fieldRemoval: break
        }
    }

    @Test func aRuleOfALaterVersionHasNoRepair() { #expect(Repair(of: RuleCode(rawValue: "new-rule")) == nil) }

    // MARK: Plans of repairs for documents

    /// Returns the plan of repairs for a collection `app.T` with these documents.
    ///
    /// The function also compiles each planned job that is not a draft, and throws an error if that fails.
    private func plan(
        _ parts: String, _ documents: [BSONDocument], isValidator: Bool = false, isStrict: Bool = true,
        defaults: [String] = []
    ) throws -> SchemaPlan {
        let text =
            isValidator
            ? "{ \"$jsonSchema\": { \"bsonType\": \"object\", \(parts) } }"
            : "{ \"title\": \"T\", \"bsonType\": \"object\", \(parts) }"
        let schema = try ServerSchema.read(text: text, namespace: Namespace(database: "app", collection: "T"))
        return try plan(schema, documents, isStrict: isStrict, defaults: defaults)
    }

    private func plan(
        _ schema: ServerSchema, _ documents: [BSONDocument], isStrict: Bool = true, defaults: [String] = []
    ) throws -> SchemaPlan {
        var tally = Tally(CompiledSchema(schema.collections[0], of: schema))
        for document in documents { try tally.add(document.view) }
        let report = CheckReport(
            source: "test", collections: [CheckReport.Collection(tally)], ledger: nil, duration: .zero)
        var options = PlanOptions()
        options.defaults = defaults.compactMap { StatedDefault($0) }
        let planner = Planner(from: schema, to: schema, options: options)
        let plan = try planner.repairs(of: report, includesPossible: isStrict)
        for job in plan.jobs where !job.isDraft { _ = try planner.compiled(job) }
        return plan
    }

    /// Returns the `required` and `properties` of a schema with one field `x` besides the `_id`.
    private static func field(_ schema: String, required: Bool = false) -> String {
        "\"required\": [\"_id\"\(required ? ", \"x\"" : "")], "
            + "\"properties\": { \"_id\": { \"bsonType\": \"int\" }, \"x\": \(schema) }"
    }

    private func steps(_ plan: SchemaPlan) -> [String] { plan.jobs.flatMap(\.steps).map(\.text) }

    private static let string = "{ \"bsonType\": \"string\" }"
    private static let home =
        "{ \"title\": \"Home\", \"bsonType\": \"object\", \"required\": [\"city\"], "
        + "\"properties\": { \"city\": \(string) } }"
    private static let closed =
        "{ \"title\": \"Home\", \"bsonType\": \"object\", \"additionalProperties\": false, "
        + "\"properties\": { \"city\": \(string) } }"

    @Test(
        arguments: [
            ("{ \"bsonType\": \"int\" }", "7", "convert: {field: x, to: int}"),
            ("{ \"bsonType\": \"double\" }", .int(3), "convert: {field: x, to: double}"),
            ("{ \"bsonType\": \"array\", \"items\": \(string) }", "a", "wrap: {field: x}"),
            (
                "{ \"bsonType\": \"array\", \"items\": \(string) }", ["a", 1],
                "convert: {field: \"x[]\", to: string}"
            ),
            ("{ \"bsonType\": \"array\", \"items\": \(string) }", ["a", nil], "drop-nulls: {field: x}"),
            (
                "{ \"bsonType\": \"array\", \"uniqueItems\": true, \"items\": \(string) }", ["a", "a"],
                "dedupe: {field: x}"
            ),
            (
                "{ \"bsonType\": \"object\", \"additionalProperties\": \(string) }", ["a": 1],
                "convert: {field: \"x[]\", to: string}"
            ),
            ("{ \"bsonType\": \"object\", \"additionalProperties\": \(string) }", ["a": nil], "drop-nulls: {field: x}"),
            (string, .undefined, "unset: {field: x, when: \"null\"}"),
            (home, [:], "default: {field: x.city, value: \"\", when: missingOrNull}"),
            (home, ["city": nil], "default: {field: x.city, value: \"\", when: missingOrNull}"),
            (closed, ["town": "a"], "unset: {field: x.town}"),
            ("{ \"bsonType\": \"array\", \"items\": \(closed) }", [["town": "a"]], "unset: {field: \"x[].town\"}"),
        ] as [(String, BSONValue, String)])
    func aFindingGetsTheStepOfItsRule(_ schema: String, _ value: BSONValue, _ step: String) throws {
        let plan = try plan(Self.field(schema), [["_id": 1, "x": value]])
        #expect(steps(plan).first == step)
        let entry = try #require(plan.jobs.first?.entries.first)
        #expect(entry.violations.map(\.count) == [1])
        #expect(plan.unplanned == 0)
        #expect(plan.failing == 1)
        #expect(plan.jobs.first?.stage == .anyTime)
    }

    @Test func missingAndNullAreFilledByOneStepForReview() throws {
        let plan = try plan(Self.field(Self.string, required: true), [["_id": 1], ["_id": 2, "x": nil]])
        #expect(steps(plan) == ["default: {field: x, value: \"\", when: missingOrNull}"])
        let entry = try #require(plan.jobs.first?.entries.first)
        #expect(Set(entry.violations.map(\.violation.rule.rule)) == [.requiredMissing, .requiredNull])
        #expect(entry.review == "the plan chose the zero value of string")
    }

    @Test func noValueOfAnEnumIsChosen() throws {
        let schema = "{ \"bsonType\": \"string\", \"enum\": [\"\", \"Open\", \"Done\"] }"
        let plan = try plan(Self.field(schema, required: true), [["_id": 1]])
        #expect(plan.jobs.isEmpty)
        let remark = try #require(plan.collections.first?.remarks.first)
        #expect(remark.role == .manual)
        #expect(remark.suggestions.isEmpty)
        let stated = try self.plan(Self.field(schema, required: true), [["_id": 1]], defaults: ["x=Open"])
        #expect(steps(stated) == ["default: {field: x, value: \"Open\", when: missingOrNull}"])
    }

    @Test(
        arguments: [
            ("{ \"bsonType\": \"int\" }", ["a": 1], "no step makes int from object"),
            ("{ \"bsonType\": \"int\" }", .double(3.5), "the declared type cannot hold these numbers"),
            (home, "Elm St 5", "no step makes embedded Home from string"),
            ("{ \"bsonType\": \"array\", \"items\": \(string) }", [["a"]], "no step knows how to flatten these lists"),
            ("{ \"bsonType\": \"mixed\" }", .regex(pattern: "a", options: ""), "only you know what replaces"),
            ("{ \"bsonType\": \"binData\" }", .binary(subtype: 5, bytes: [1]), "no step changes the subtype"),
            ("{ \"bsonType\": \"int\", \"minimum\": 0 }", .int(-1), "a step can write the limit instead"),
        ] as [(String, BSONValue, String)])
    func aFindingWithoutAStepHasARemark(_ schema: String, _ value: BSONValue, _ reason: String) throws {
        let plan = try plan(Self.field(schema), [["_id": 1, "x": value]])
        #expect(steps(plan).isEmpty)
        #expect(plan.unplanned == 1)
        let remark = try #require(plan.entries.first)
        #expect(remark.remarks.first?.hasPrefix(reason) == true, "\(remark.remarks)")
        #expect(remark.violations.map(\.count) == [1])
    }

    @Test(
        arguments: [
            (
                "{ \"bsonType\": \"double\", \"minimum\": 0 }", .double(-1),
                "expression: {field: x, value: {$max: [\"$x\", 0.0]}, "
                    + "when: {$and: [{$isNumber: \"$x\"}, {$lt: [\"$x\", 0.0]}]}}"
            ),
            (
                "{ \"bsonType\": \"string\", \"maxLength\": 2 }", "abc",
                "expression: {field: x, value: {$substrCP: [\"$x\", 0, 2]}, "
                    + "when: {$cond: [{$eq: [{$type: \"$x\"}, string]}, {$gt: [{$strLenCP: \"$x\"}, 2]}, false]}}"
            ),
            (
                "{ \"bsonType\": \"array\", \"maxItems\": 1 }", ["a", "b"],
                "expression: {field: x, value: {$slice: [\"$x\", 1]}, "
                    + "when: {$cond: [{$eq: [{$type: \"$x\"}, array]}, {$gt: [{$size: \"$x\"}, 1]}, false]}}"
            ),
            (
                "{ \"bsonType\": \"string\", \"enum\": [\"a\"] }", "b",
                "map: {field: x, values: [{from: OLD VALUE, to: NEW VALUE}], unmapped: keep}"
            ),
        ] as [(String, BSONValue, String)])
    func aLimitThatOnlyAnOperatorCanApplyIsSuggested(_ schema: String, _ value: BSONValue, _ step: String) throws {
        let plan = try plan(Self.field(schema), [["_id": 1, "x": value]], isValidator: true)
        #expect(plan.jobs.map(\.isDraft) == [true])
        #expect(plan.entries.flatMap(\.suggestions).map(\.text) == [step])
    }

    @Test func severalTypesLeaveTheChoiceToTheOperator() throws {
        let plan = try plan(
            Self.field("{ \"bsonType\": [\"int\", \"string\", \"null\"] }"), [["_id": 1, "x": true]], isValidator: true)
        #expect(
            plan.entries.flatMap(\.suggestions).map(\.text) == [
                "convert: {field: x, to: int}", "convert: {field: x, to: string}",
            ])
    }

    @Test func aDemandInsideOfAllOfIsNotMistakenForOneOfTheFieldItself() throws {
        let schema =
            Self.field(Self.string) + ", \"allOf\": [{ \"required\": [\"y\"] }, "
            + "{ \"properties\": { \"x\": { \"bsonType\": \"int\" } } }]"
        let plan = try plan(schema, [["_id": 1, "x": "a"]], isValidator: true)
        #expect(plan.jobs.isEmpty)
        #expect(plan.unplanned == 3)
    }

    @Test func aFieldInAListOfListsIsRemoved() throws {
        let lists = "{ \"bsonType\": \"array\", \"items\": { \"bsonType\": \"array\", \"items\": \(Self.closed) } }"
        let plan = try plan(Self.field(lists), [["_id": 1, "x": [[["town": 1]]]]], isValidator: true)
        #expect(steps(plan) == ["unset: {field: \"x[][].town\"}"])
    }

    @Test func findingsThatMightStopSyncArePlannedForOnlyWithStrict() throws {
        let documents: [BSONDocument] = [["_id": 1, "x": 3]]
        let plan = try plan(Self.field("{ \"bsonType\": \"double\" }"), documents, isStrict: false)
        #expect(plan.collections.isEmpty)
        #expect(plan.failing == 0)
        #expect(plan.notes == ["findings that only might stop sync, without a step: 1; --strict plans for them"])
    }

    @Test func numbersThatAPrismaClientReadsStayAsTheyAre() throws {
        let text = """
            datasource db {
              provider = "mongodb"
            }
            model T {
              id Int @id @map("_id")
              x Int
              y Int[]
            }
            """
        let schema = try PrismaSchema(files: [SchemaSource(path: "schema.prisma", text: text)])
            .serverSchema(database: "app")
        let plan = try plan(
            schema,
            [["_id": 1, "x": 3], ["_id": 2, "x": "7"], ["_id": 3, "x": .date(milliseconds: 0), "y": ["1", 2]]])
        #expect(
            steps(plan) == [
                "convert: {field: x, to: long, keep: [double, int]}",
                "convert: {field: \"y[]\", to: long, keep: [double, int]}",
            ])
    }

    @Test func aConvertedLinkIsReviewed() throws {
        let parts = Self.field("{ \"bsonType\": \"objectId\" }")
        var schema = try ServerSchema.read(
            text: "{ \"title\": \"T\", \"bsonType\": \"object\", \(parts) }",
            namespace: Namespace(database: "app", collection: "T"))
        schema.collections[0].relationships = [
            Relationship(
                source: SchemaPath([.field("x")]), target: Namespace(database: "app", collection: "Dog"),
                location: SourceLocation(file: "links", line: 1, column: 1))
        ]
        let plan = try plan(schema, [["_id": 1, "x": "5e0c0c205ea51de17c0000b8"]])
        #expect(steps(plan) == ["convert: {field: x, to: objectId}"])
        let entry = try #require(plan.jobs.first?.entries.first)
        #expect(entry.violations.map(\.violation.rule.rule) == [.linkType])
        #expect(entry.review == "whether the converted values are keys of app.Dog")
    }

    @Test func anIDIsNeverRepaired() throws {
        let plan = try plan(Self.field(Self.string), [["_id": "a"]])
        #expect(plan.jobs.isEmpty)
        #expect(plan.entries.map(\.remarks) == [[Repair.ofID]])
    }

    @Test func oneStepServesTheFindingsOfAListAndOfItsElements() throws {
        let schema = "{ \"bsonType\": \"array\", \"items\": { \"bsonType\": \"string\" } }"
        let plan = try plan(Self.field(schema), [["_id": 1, "x": 5], ["_id": 2, "x": [6]]])
        #expect(steps(plan) == ["wrap: {field: x}", "convert: {field: \"x[]\", to: string}"])
        #expect(
            plan.jobs.first?.entries.map { $0.violations.map(\.violation.rule.rule) } == [
                [.arrayNotArray], [.arrayItemType],
            ])
    }
}
