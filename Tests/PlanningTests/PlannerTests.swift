import BSON
import Jobs
import SchemaChange
import ServerSchema
import Testing

@testable import Planning

/// Tests the steps that are planned for each kind of change, from two schemas and without documents.
@Suite struct PlannerTests {
    /// Returns a plan for one collection of an app, from the `properties` and `required` of two schemas.
    private func plan(
        _ old: String, _ new: String, options: PlanOptions = PlanOptions()
    ) throws -> CollectionPlan {
        let planner = Planner(from: try Self.schema(old), to: try Self.schema(new), options: options)
        let plan = try planner.plan()
        return try #require(plan.collections.first)
    }

    private static func schema(_ parts: String) throws -> ServerSchema {
        try ServerSchema.read(
            text: "{ \"title\": \"Person\", \"bsonType\": \"object\", \(parts) }",
            namespace: Namespace(database: "app", collection: "Person"))
    }

    private static let id = "\"_id\": { \"bsonType\": \"objectId\" }"

    /// Returns the `required` and `properties` of a schema with one field `x`.
    private static func field(_ schema: String, required: Bool = false) -> String {
        "\"required\": [\"_id\"\(required ? ", \"x\"" : "")], \"properties\": { \(id), \"x\": \(schema) }"
    }

    private static let empty = "\"required\": [\"_id\"], \"properties\": { \(id) }"

    private func lines(_ plan: CollectionPlan, _ stage: Stage = .beforeDeploy) -> [String] {
        plan.jobs.first { $0.stage == stage }?.steps.map(\.text) ?? []
    }

    @Test(arguments: [
        ("int", "0"), ("long", "0"), ("double", "0.0"), ("decimal", "0"), ("string", "\"\""), ("bool", "false"),
        ("date", "{ \"$date\" : \"1970-01-01T00:00:00Z\" }"),
    ])
    func anAddedRequiredFieldTakesTheZeroValueOfItsTypeForReview(_ type: String, _ value: String) throws {
        let plan = try plan(Self.empty, Self.field("{ \"bsonType\": \"\(type)\" }", required: true))
        #expect(
            lines(plan) == [
                "convert: {field: x, to: \(type)}", "default: {field: x, value: \(value), when: missingOrNull}",
            ])
        #expect(plan.jobs[0].entries.count { $0.review != nil } == 1)
    }

    @Test func theSchemasOwnDefaultNeedsNoReview() throws {
        let new = Self.field("{ \"bsonType\": \"string\", \"default\": \"Open\" }", required: true)
        let plan = try plan(Self.empty, new)
        #expect(lines(plan).last == "default: {field: x, value: \"Open\", when: missingOrNull}")
        #expect(plan.jobs[0].entries.allSatisfy { $0.review == nil })
    }

    @Test(arguments: ["objectId", "uuid"])
    func anIdentityIsNeverMadeUp(_ type: String) throws {
        let plan = try plan(
            Self.field("{ \"bsonType\": \"\(type)\" }"), Self.field("{ \"bsonType\": \"\(type)\" }", required: true))
        #expect(plan.jobs.isEmpty)
        let remedy = try #require(plan.remarks.first)
        #expect(remedy.role == .manual)
        #expect(remedy.suggestions.map(\.text) == ["default: {field: x, generate: \(type), when: missingOrNull}"])
    }

    @Test func noZeroValueIsWrittenThatTheSchemaForbids() throws {
        let new = Self.field("{ \"bsonType\": \"string\", \"enum\": [\"Open\", \"Done\"] }", required: true)
        let plan = try plan(Self.empty, new)
        #expect(lines(plan) == ["convert: {field: x, to: string}"])
        let remedy = try #require(plan.jobs[0].entries.first { $0.role == .manual })
        // Only the user can choose one of the listed values, so the plan suggests no step.
        #expect(remedy.suggestions.isEmpty)
        #expect(remedy.remarks[0].contains("One of \"Open\", \"Done\" for all: --default"), "\(remedy.remarks)")
        #expect(remedy.remarks[0].hasSuffix(".x=VALUE"), "the flag stands there as it is typed: \(remedy.remarks)")
    }

    /// The default of an enum of texts needs no quotation marks, because the values of the enum show that it is a text.
    @Test func aDefaultOfAnEnumOfTextsNeedsNoQuotationMarks() throws {
        let new = Self.field("{ \"enum\": [\"Open\", \"Done\"] }", required: true)
        var options = PlanOptions()
        options.defaults = [try #require(StatedDefault("Person.x=Open"))]
        let planned = try plan(Self.empty, new, options: options)
        #expect(lines(planned).contains { $0.hasPrefix("default: {field: x, value: \"Open\"") }, "\(lines(planned))")
    }

    @Test(
        arguments: [
            ("{ \"bsonType\": \"string\" }", "{ \"bsonType\": \"int\" }", ["convert: {field: x, to: int}"]),
            (
                "{ \"bsonType\": \"uuid\" }", "{ \"bsonType\": \"string\" }",
                ["convert: {field: x, from: uuid, to: string}"]
            ),
            (
                "{ \"bsonType\": \"int\" }", "{ \"bsonType\": \"array\", \"items\": { \"bsonType\": \"string\" } }",
                ["wrap: {field: x}", "convert: {field: \"x[]\", to: string}"]
            ),
            (
                "{ \"bsonType\": \"array\", \"items\": { \"bsonType\": \"string\" } }", "{ \"bsonType\": \"int\" }",
                [
                    "expression: {field: x, value: null, when: {$eq: [\"$x\", []]}}", "unwrap: {field: x}",
                    "convert: {field: x, to: int}",
                ]
            ),
            (
                "{ \"bsonType\": \"object\", \"additionalProperties\": { \"bsonType\": \"int\" } }",
                "{ \"bsonType\": \"object\", \"additionalProperties\": { \"bsonType\": \"long\" } }",
                ["convert: {field: \"x[]\", to: long}"]
            ),
        ] as [(String, String, [String])])
    func aStepThatChangesValuesInPlaceWaitsForTheDeploy(_ old: String, _ new: String, _ steps: [String]) throws {
        let plan = try plan(Self.field(old), Self.field(new))
        #expect(plan.jobs.map(\.stage) == [.afterDeploy])
        #expect(lines(plan, .afterDeploy) == steps)
    }

    @Test func nullsAreDroppedBeforeTheDeploy() throws {
        let items = { (type: String) in
            "{ \"bsonType\": \"array\", \"items\": { \"bsonType\": \(type) } }"
        }
        let plan = try plan(Self.field(items("[\"int\", \"null\"]")), Self.field(items("\"int\"")))
        #expect(lines(plan) == ["drop-nulls: {field: x}"])
        #expect(plan.jobs[0].entries[0].changes.map(\.code) == [.elementNullabilityChanged])
    }

    @Test func aSetIsMadeBeforeTheDeploy() throws {
        let list = "\"bsonType\": \"array\", \"items\": { \"bsonType\": \"string\" }"
        let plan = try plan(Self.field("{ \(list) }"), Self.field("{ \(list), \"uniqueItems\": true }"))
        #expect(lines(plan) == ["dedupe: {field: x}"])
    }

    @Test func aRenameIsACopyBeforeTheDeployAndARenameAfterIt() throws {
        var options = PlanOptions()
        options.renames = [try Rename("Person.x=z")]
        let new = "\"required\": [\"_id\"], \"properties\": { \(Self.id), \"z\": { \"bsonType\": \"string\" } }"
        let plan = try plan(Self.field("{ \"bsonType\": \"string\" }"), new, options: options)
        #expect(
            lines(plan) == [
                "convert: {field: x, to: string}", "copy: {from: x, to: z, whenPresent: refresh}",
                "convert: {field: z, to: string}",
            ])
        #expect(lines(plan, .afterDeploy) == ["rename: {from: x, to: z}"])
    }

    @Test func aRenamedFieldOfAnotherTypeIsConvertedIntoTheNewOne() throws {
        var options = PlanOptions()
        options.renames = [try Rename("Person.x=z")]
        let new = "\"required\": [\"_id\", \"z\"], \"properties\": { \(Self.id), \"z\": { \"bsonType\": \"int\" } }"
        let plan = try plan(Self.field("{ \"bsonType\": \"string\" }"), new, options: options)
        #expect(
            lines(plan) == [
                "convert: {field: x, to: int, into: z, whenPresent: refresh, when: missingOrNull}",
                "convert: {field: z, to: int}",
                "default: {field: z, value: 0, when: missingOrNull}",
            ])
        #expect(plan.jobs.count == 1)
    }

    /// The older schema allows no undeclared field, so a job after the deploy of the newer schema fills the field `z`.
    ///
    /// The plan must not describe the step that converts `x` into `z` as a conversion in place.
    @Test func aConversionIntoAnotherFieldIsNotCalledOneInPlace() throws {
        var options = PlanOptions()
        options.renames = [try Rename("Person.x=z")]
        let closed = "\"additionalProperties\": false, \"required\": [\"_id\"], \"properties\": { \(Self.id), "
        let plan = try plan(
            closed + "\"x\": { \"bsonType\": \"string\" } }", closed + "\"z\": { \"bsonType\": \"int\" } }",
            options: options)
        let entry = try #require(
            plan.jobs.first { $0.stage == .afterDeploy }?.entries.first { $0.step?.text(of: "into") == "z" })
        #expect(!entry.remarks.contains { $0.contains("in place") }, "\(entry.remarks)")
        #expect(entry.suggestions.isEmpty, "\(entry.suggestions.map(\.text))")
    }

    @Test func aRenameIsNeverGuessed() throws {
        let new = "\"required\": [\"_id\"], \"properties\": { \(Self.id), \"z\": { \"bsonType\": \"string\" } }"
        let plan = try plan(Self.field("{ \"bsonType\": \"string\" }"), new)
        #expect(lines(plan) == ["convert: {field: z, to: string}"])
        #expect(
            plan.jobs[0].entries.contains {
                $0.remarks.contains { $0.contains("plan again with app.Person.x=z in renames of shipshape.yml") }
            })
    }

    @Test func fieldsThatMayHaveBeenCombinedAreASuggestion() throws {
        let text = "{ \"bsonType\": \"string\" }"
        let old = "\"required\": [\"_id\"], \"properties\": { \(Self.id), \"first\": \(text), \"last\": \(text) }"
        let new = "\"required\": [\"_id\"], \"properties\": { \(Self.id), \"full\": \(text) }"
        let suggestions = try plan(old, new).jobs[0].entries.flatMap(\.suggestions).map(\.text)
        #expect(suggestions.contains("combine: {into: full, template: \"{first} {last}\", whenPresent: refresh}"))
    }

    @Test(arguments: [
        ("\"required\": [\"_id\"], \"properties\": { \"_id\": { \"bsonType\": \"string\" } }", "partner collection")
    ])
    func aChangeThatNoJobCanServeShowsTheManualRemedy(_ new: String, _ words: String) throws {
        let plan = try plan(Self.empty, new)
        #expect(plan.jobs.isEmpty)
        #expect(plan.remarks.map(\.role) == [.manual])
        #expect(plan.remarks[0].remarks[0].contains(words))
    }

    /// A step adds a field only to an object that exists, so the plan adds the object first and then its fields.
    @Test func aNewObjectComesBeforeItsFields() throws {
        let object =
            "{ \"title\": \"A\", \"bsonType\": \"object\", \"required\": [\"city\"], \"properties\": { \"city\": { "
            + "\"bsonType\": \"string\" } } }"
        var options = PlanOptions()
        options.defaults = [try #require(StatedDefault("Person.x={\"city\": \"Oslo\"}"))]
        let stated = try plan(Self.empty, Self.field(object, required: true), options: options)
        #expect(
            lines(stated).filter { $0.hasPrefix("default") } == [
                "default: {field: x, value: {city: \"Oslo\"}, when: missingOrNull}",
                "default: {field: x.city, value: \"\", when: missingOrNull}",
            ])
        let open = try plan(Self.empty, Self.field(object, required: true))
        let entries = open.jobs[0].entries
        #expect(entries[0].role == .manual && entries[0].changes.map(\.code) == [.requiredAdded])
        #expect(entries.dropFirst().contains { $0.remarks.contains { $0.contains("no step creates them") } })
    }

    /// The plan suggests a rename of the removed field `name` to the new text field `fullName`.
    ///
    /// It suggests no split of `name` into both new fields, because the field `state` allows only listed values.
    @Test func aRenameIsNamedNextToAFieldOfListedValues() throws {
        let text = "{ \"bsonType\": \"string\" }"
        let listed = "{ \"bsonType\": \"string\", \"enum\": [\"open\", \"done\"] }"
        let old = "\"required\": [\"_id\"], \"properties\": { \(Self.id), \"name\": \(text) }"
        let new =
            "\"required\": [\"_id\"], \"properties\": { \(Self.id), \"fullName\": \(text), \"state\": \(listed) }"
        let entries = try plan(old, new).jobs[0].entries
        #expect(!entries.flatMap(\.suggestions).contains { $0.kind == "split" })
        #expect(
            entries.compactMap(\.hint).contains {
                $0.contains("plan again with app.Person.name=fullName in renames of shipshape.yml")
            })
    }

    /// The schemas do not show to which of two new fields a removed field was renamed, if to any.
    ///
    /// The plan therefore proposes a split into both, and a rename to either.
    @Test func aSplitIsProposedWithTheRenamesThatItMayBe() throws {
        let text = "{ \"bsonType\": \"string\" }"
        let old = "\"required\": [\"_id\"], \"properties\": { \(Self.id), \"name\": \(text) }"
        let new = "\"required\": [\"_id\"], \"properties\": { \(Self.id), \"a\": \(text), \"b\": \(text) }"
        let entries = try plan(old, new).jobs[0].entries
        #expect(
            entries.flatMap(\.suggestions).filter { $0.kind == "split" }.map(\.text) == [
                "split: {field: name, by: \" \", into: [a, b], whenPresent: refresh}"
            ])
        let hint = try #require(entries.compactMap(\.hint).first)
        #expect(
            hint.contains(
                "=a,b; if one of them is the renamed name, with app.Person.name=NAME in renames of shipshape.yml"))
    }

    /// The links still contain keys of the former target collection, so only the operator can map them to keys of the
    /// new one.
    @Test func aRetargetedLinkIsLeftToTheOperator() throws {
        func app(_ target: String) throws -> ServerSchema {
            var schema = try Self.schema(
                "\"required\": [\"_id\"], \"properties\": { \(Self.id), \"dog\": { \"bsonType\": \"objectId\" } }")
            let namespace = Namespace(database: "app", collection: target)
            let location = SourceLocation(whole: "relationships")
            schema.collections[0].relationships = [
                Relationship(
                    source: SchemaPath([.field("dog")]), target: namespace, foreignKey: "_id", isList: false,
                    location: location)
            ]
            return schema
        }
        let plan = try Planner(from: try app("Dog"), to: try app("Wolf")).plan()
        let entry = try #require(plan.entries.first { $0.changes.contains { $0.code == .linkRetargeted } })
        #expect(entry.role == .manual)
        #expect(entry.remarks[0].contains("have to be keys of app.Wolf"), "\(entry.remarks)")
        #expect(entry.suggestions.map(\.text) == ["map: {field: dog, values: [{from: OLD KEY, to: NEW KEY}]}"])
        #expect(plan.unplanned == 1)
    }

    // MARK: Changes that a job cannot hold

    /// Checks that every job can be read from its file; if not, `plan` would end with an internal error.
    private func check(_ plan: CollectionPlan, from old: String, to new: String) throws {
        let planner = Planner(from: try Self.schema(old), to: try Self.schema(new))
        for job in plan.jobs { try planner.check(job) }
    }

    @Test func anIDThatComesToBeDeclaredOrRequiredNeedsNoStep() throws {
        let optional = "\"properties\": { \(Self.id) }"
        for (old, new) in [
            ("\"properties\": { \"x\": { \"bsonType\": \"int\" } }", Self.empty), (optional, Self.empty),
            (
                "\"properties\": { \"_id\": { \"bsonType\": \"string\" } }",
                "\"required\": [\"_id\"], \"properties\": { \"_id\": { \"bsonType\": \"string\" } }"
            ),
        ] {
            let plan = try plan(old, new)
            #expect(plan.jobs.flatMap(\.steps).allSatisfy { $0.text(of: "field") != "_id" })
            try check(plan, from: old, to: new)
        }
    }

    @Test func theElementsOfAListBecomeUUIDs() throws {
        let old = Self.field("{ \"bsonType\": \"array\", \"items\": { \"bsonType\": \"string\" } }")
        let new = Self.field("{ \"bsonType\": \"array\", \"items\": { \"bsonType\": \"uuid\" } }")
        #expect(try plan(old, new).jobs.flatMap(\.steps).map(\.text) == ["convert: {field: \"x[]\", to: uuid}"])
    }

    @Test(arguments: ["a\\u0000b", "", "$a", "a.b"])
    func aNameThatNoPathHolds(_ name: String) throws {
        let new =
            "\"required\": [\"_id\", \"\(name)\"], \"properties\": { \(Self.id), \"\(name)\": { \"bsonType\": "
            + "\"string\" } }"
        let plan = try plan(Self.empty, new)
        #expect(plan.jobs.isEmpty)
        #expect(
            plan.remarks.contains {
                $0.role == .manual && $0.remarks.contains { $0.contains("cannot name this field") }
            })
    }

    @Test func aCollectionOfTheServerGetsNoJob() throws {
        let namespace = Namespace(database: "config", collection: "people")
        func schema(_ parts: String) throws -> ServerSchema {
            try ServerSchema.read(
                text: "{ \"title\": \"P\", \"bsonType\": \"object\", \(parts) }", namespace: namespace)
        }
        let planner = Planner(
            from: try schema(Self.empty), to: try schema(Self.field("{ \"bsonType\": \"int\" }", required: true)))
        let plan = try planner.plan()
        #expect(plan.jobs.isEmpty)
        #expect(plan.entries.contains { $0.remarks.contains { $0.contains("the database belongs to the server") } })
    }

    // MARK: Plans for schemas with many fields

    @Test func aJobIsCheckedByTheFieldsThatItNamesAlone() throws {
        let names = (0..<2_000).map { "\"p\($0)\": { \"bsonType\": \"string\" }" }.joined(separator: ",")
        let schema = try Self.schema("\"required\": [\"_id\", \"p7\"], \"properties\": { \(Self.id), \(names) }")
        let job = try JobFile.parse(
            "job: a\ncollection: app.Person\nsteps:\n  - copy: {from: p7, to: p9}\n  - default: {field: p1999, value: "
                + "x}",
            path: "j")
        let narrow = schema.narrowed(to: job)
        #expect(narrow.collections[0].root.properties.map(\.name) == ["_id", "p1999", "p7", "p9"])
        #expect(narrow.collections[0].root.required == ["_id", "p7"])
        #expect(narrow.sources.isEmpty && narrow.neighbours.isEmpty)
    }

    @Test func theSchemasOfAJobAreNarrowedInsideObjectsAndListsToo() throws {
        let inner = (0..<200).map { "\"p\($0)\": { \"bsonType\": \"string\" }" }.joined(separator: ",")
        let object =
            "\"bsonType\": \"object\", \"title\": \"Inner\", \"required\": [\"p7\", \"p8\"], \"properties\": { "
            + "\(inner) }"
        var schema = try Self.schema(
            "\"required\": [\"_id\"], \"properties\": { \(Self.id), \"o\": { \(object) }, "
                + "\"l\": { \"bsonType\": \"array\", \"items\": { \(object) } } }")
        schema.collections[0].relationships = (0..<200).map { number in
            Relationship(
                source: SchemaPath([.field("o"), .field("p\(number)")]),
                target: Namespace(database: "app", collection: "Dog"),
                location: SourceLocation(file: "links", line: 1, column: 1))
        }
        let job = try JobFile.parse(
            "job: a\ncollection: app.Person\nsteps:\n  - default: {field: o.p7, value: x}\n  - default: {field: "
                + "\"l[].p9\", value: x}",
            path: "j")
        let narrow = schema.narrowed(to: job).collections[0]
        #expect(narrow.root.property("o")?.properties.map(\.name) == ["p0", "p7"])
        #expect(narrow.root.property("o")?.required == ["p7"])
        #expect(narrow.root.property("l")?.inner?.properties.map(\.name) == ["p0", "p9"])
        #expect(narrow.relationships.map(\.source) == [SchemaPath([.field("o"), .field("p7")])])
    }

    /// A suggestion for an added field does not list all removed fields; an earlier version did that.
    @Test func suggestionsDoNotNameEveryField() throws {
        func properties(_ prefix: String) -> String {
            let names = (0..<40).map { "\"\(prefix)\($0)\": { \"bsonType\": \"string\" }" }.joined(separator: ",")
            return "\"required\": [\"_id\"], \"properties\": { \(Self.id), \(names) }"
        }
        let plan = try plan(properties("p"), properties("q"))
        let entries = plan.jobs.flatMap(\.entries) + plan.remarks
        #expect(entries.allSatisfy { $0.suggestions.allSatisfy { $0.text.utf8.count < 400 } })
    }
}
