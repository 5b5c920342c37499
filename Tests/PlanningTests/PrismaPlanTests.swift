import BSON
import Checking
import ServerSchema
import Testing

@testable import Planning

/// Tests the steps that are planned for Prisma schemas.
@Suite struct PrismaPlanTests {
    /// Returns a schema with a model `M` and the given declarations; the model has a key and the given fields.
    private static func schema(_ fields: String, map: String = "m", _ declarations: String = "") throws -> ServerSchema
    {
        let text = """
            datasource db {
              provider = "mongodb"
            }
            \(declarations)
            model M {
              id Int @id @map("_id")
              \(fields)
              @@map("\(map)")
            }
            """
        return try PrismaSchema(files: [SchemaSource(path: "schema.prisma", text: text)]).serverSchema(database: "app")
    }

    /// Returns the plan from one schema to another.
    ///
    /// Throws if a job of the plan cannot be compiled. Drafts of jobs are not compiled.
    private func plan(_ old: ServerSchema, _ new: ServerSchema) throws -> SchemaPlan {
        let planner = Planner(from: old, to: new)
        let plan = try planner.plan()
        for job in plan.jobs where !job.isDraft { _ = try planner.compiled(job) }
        return plan
    }

    @Test func aPlanHasALimit() throws {
        func fields(_ count: Int) throws -> ServerSchema {
            try Self.schema((0..<count).map { "f\($0) Int?" }.joined(separator: "\n"))
        }
        #expect(try plan(fields(0), fields(1_000)).collections.count == 1)
        let error = #expect(throws: PlanError.self) { try plan(fields(0), fields(1_001)) }
        #expect(error?.description.hasPrefix("the schemas differ in more than 1000 places") == true)
    }

    /// One change may need a step for each field inside an object, and a path may have a name for each level above it.
    @Test func theFieldsInsideWhatIsAddedHaveALimit() throws {
        func chain(_ levels: Int, _ fields: Int) throws -> ServerSchema {
            let ints = (0..<fields).map { "f\($0) Int\n" }.joined()
            let types = (0..<levels).map { "type T\($0) {\n\(ints)a T\($0 + 1)?\n}\n" }.joined()
            return try Self.schema("t T0", "\(types)type T\(levels) {\nx Int\n}\n")
        }
        let old = try Self.schema("")
        #expect(try plan(old, chain(0, 0)).jobs.flatMap(\.steps).isEmpty == false)
        for wide in [try chain(1, 2_500), try chain(60, 3)] {
            let error = #expect(throws: PlanError.self) { try plan(old, wide) }
            #expect(error?.description.hasPrefix("the paths of the added fields have more than 3000 names") == true)
        }
    }

    /// Returns the plan that repairs the documents for their schema.
    ///
    /// Throws if a job of the plan cannot be compiled. Drafts of jobs are not compiled.
    private func repairs(_ schema: ServerSchema, _ documents: [BSONDocument]) throws -> SchemaPlan {
        let collection = try #require(schema.collections.first { $0.namespace.collection == "m" })
        var tally = Tally(CompiledSchema(collection, of: schema))
        for document in documents { try tally.add(document.view) }
        let report = CheckReport(
            source: "test", collections: [CheckReport.Collection(tally)], ledger: nil, duration: .zero)
        let planner = Planner(from: schema, to: schema)
        let plan = try planner.repairs(of: report, includesPossible: false)
        for job in plan.jobs where !job.isDraft { _ = try planner.compiled(job) }
        return plan
    }

    private func steps(_ plan: SchemaPlan) -> [String] { plan.jobs.flatMap(\.steps).map(\.text) }
    private func suggestions(_ plan: SchemaPlan) -> [String] { plan.entries.flatMap(\.suggestions).map(\.text) }

    // MARK: Plans between two schemas

    /// If the newer schema maps a model to another collection, all steps for it run after that schema is deployed.
    ///
    /// A field is therefore renamed in one step. It is not copied before the deploy.
    @Test func aFieldOfAMovedCollectionIsRenamedByOneStep() throws {
        let plan = try plan(
            Self.schema("name String"), Self.schema("name String @map(\"full_name\")", map: "clients"))
        #expect(plan.jobs.map(\.stage) == [.afterDeploy])
        #expect(
            steps(plan) == [
                "rename: {from: name, to: full_name, when: missingOrNull}", "convert: {field: full_name, to: string}",
            ])
    }

    @Test func aFieldOfAMovedCollectionIsFilledAfterItIsRenamed() throws {
        let plan = try plan(
            Self.schema("name String?"), Self.schema("name String @map(\"full_name\")", map: "clients"))
        #expect(
            steps(plan).suffix(3) == [
                "rename: {from: name, to: full_name, whenPresent: keep, when: missingOrNull}",
                "convert: {field: full_name, to: string}",
                "default: {field: full_name, value: \"\", when: missingOrNull}",
            ])
    }

    @Test func aFieldOfARenamedObjectInAMovedCollectionIsReadInItsNewPlace() throws {
        let plan = try plan(
            Self.schema("t T", "type T {\n  x Int\n}"),
            Self.schema("t T @map(\"tt\")", map: "clients", "type T {\n  x Int @map(\"xx\")\n}"))
        let renames = steps(plan).filter { $0.hasPrefix("rename") }
        #expect(renames.count == 2)
        #expect(renames.first?.hasPrefix("rename: {from: t, to: tt") == true)
        #expect(renames.last?.hasPrefix("rename: {from: tt.x, to: tt.xx") == true)
    }

    @Test func aRemovedDefaultIsWrittenOverNullsToo() throws {
        let plan = try plan(Self.schema("currency String @default(\"EUR\")"), Self.schema("currency String"))
        #expect(steps(plan) == ["default: {field: currency, value: \"EUR\", when: missingOrNull}"])
    }

    /// The step `convert` keeps numbers that a Prisma client can read in the field, such as an int in a field of longs.
    ///
    /// To convert them would be a write without need.
    @Test func numbersThatTheNewerClientReadsAreKept() throws {
        let plan = try plan(Self.schema("a String"), Self.schema("a String\nn Int\nf Float?\nb BigInt?"))
        #expect(
            steps(plan).filter { $0.hasPrefix("convert") } == [
                "convert: {field: \"n\", to: long, keep: [double, int]}",
                "convert: {field: f, to: double, keep: [int, long]}",
                "convert: {field: b, to: long, keep: [int]}",
            ])
    }

    @Test func anIntThatBecomesABigIntKeepsItsIntegers() throws {
        let plan = try plan(Self.schema("n Int"), Self.schema("n BigInt"))
        #expect(steps(plan) == ["convert: {field: \"n\", to: long, keep: [int]}"])
    }

    /// The plan copies `t.x` to `t.xx`, converts `t.xx`, and later renames `t.x`.
    ///
    /// The conversion keeps ints, because the rename removes `t.x` only if `t.xx` still has the same value.
    @Test func aRenameInsideATypeKeepsTheNumbersAsTheyAre() throws {
        let plan = try plan(
            Self.schema("t T", "type T {\n  x Int\n}"), Self.schema("t T", "type T {\n  x Int @map(\"xx\")\n}"))
        #expect(
            steps(plan) == [
                "copy: {from: t.x, to: t.xx, when: missingOrNull}",
                "convert: {field: t.xx, to: long, keep: [double, int]}",
                "rename: {from: t.x, to: t.xx, when: missingOrNull}",
            ])
    }

    @Test func textsAndObjectIdsAreConvertedForTheFiltersOfTheClient() throws {
        let plan = try plan(Self.schema("k String @db.ObjectId"), Self.schema("k String"))
        #expect(steps(plan) == ["convert: {field: k, to: string}"])
    }

    // MARK: Repairs

    /// The step `convert` of a field does not convert a list, so the step `unwrap` first replaces a list of one element
    /// by the element.
    @Test(arguments: [("f Int?", "f"), ("t T", "t.f")]) func aListOfOneIsUnwrappedBeforeItsValueIsConverted(
        _ field: String, _ path: String
    ) throws {
        let values: [BSONValue] = ["12", "13", [1]]
        let schema = try Self.schema(field, "type T {\n  f Int?\n}")
        let plan = try repairs(
            schema,
            values.enumerated().map { index, value in
                ["_id": .integer(index), "f": value, "t": ["f": value]]
            })
        #expect(
            steps(plan) == [
                "unwrap: {field: \(path)}", "convert: {field: \(path), to: long, keep: [double, int]}",
            ])
    }

    @Test func valuesInsideAListThatIsMadeFirstAreConvertedInTheSameJob() throws {
        let schema = try Self.schema("lines Line[]", "type Line {\n  qty Int\n}")
        let plan = try repairs(
            schema, [["_id": 1, "lines": ["qty": 1]], ["_id": 2, "lines": [["qty": "2"], ["qty": 3]]]])
        #expect(
            steps(plan).prefix(2) == [
                "wrap: {field: lines}", "convert: {field: \"lines[].qty\", to: long, keep: [double, int]}",
            ])
        #expect(plan.unplanned == 0)
    }

    /// If a repair plan has several steps for the same findings, it leaves out a later step that changes no document.
    ///
    /// The documents that this later step would only skip have other findings.
    @Test func aFurtherStepThatChangesNoDocumentIsLeftOut() throws {
        let schema = try Self.schema("lines Line[]", "type Line {\n  qty Int\n}")
        var plan = try repairs(schema, [["_id": 1, "lines": ["qty": 1]]])
        #expect(steps(plan).count > 1)
        let skipped = StepFinding.Skipped(reason: "parent is not an object", isTrouble: true, count: 1, samples: [])
        for index in plan.collections[0].jobs[0].entries.indices {
            plan.collections[0].jobs[0].entries[index].finding =
                index == 0 ? StepFinding(needing: 1, skipped: []) : StepFinding(needing: 0, skipped: [skipped])
        }
        plan.completeRepairs()
        #expect(steps(plan) == ["wrap: {field: lines}"])
    }

    @Test func aNumberThatBecomesADateIsReviewedForItsUnit() throws {
        let plan = try repairs(
            Self.schema("at DateTime"), [["_id": 1, "at": "2024-01-29"], ["_id": 2, "at": 1_706_503_732]])
        #expect(steps(plan) == ["convert: {field: at, to: date}"])
        #expect(
            plan.jobs[0].entries.map(\.review) == [
                "numbers are read as milliseconds since 1970; for seconds, add \"unit: seconds\""
            ])
    }

    @Test func aTextThatBecomesADateNeedsNoReview() throws {
        let plan = try repairs(Self.schema("at DateTime"), [["_id": 1, "at": "2024-01-29"]])
        #expect(plan.reviews == 0)
        #expect(steps(plan).count == 1)
    }

    @Test func aNumberIsNotConvertedToATextThatTheEnumLacks() throws {
        let plan = try repairs(Self.schema("tier Tier", "enum Tier {\n  free\n  pro\n}"), [["_id": 1, "tier": 2]])
        #expect(steps(plan).isEmpty)
        #expect(plan.unplanned == 1)
        #expect(
            suggestions(plan) == ["map: {field: tier, values: [{from: OLD VALUE, to: NEW VALUE}], unmapped: keep}"])
    }

    @Test func aNumberIsConvertedToATextThatTheEnumMayHave() throws {
        let plan = try repairs(
            Self.schema("tier Tier", "enum Tier {\n  one @map(\"1\")\n  two @map(\"2\")\n}"), [["_id": 1, "tier": 2]])
        #expect(steps(plan) == ["convert: {field: tier, to: string}"])
    }

    @Test(arguments: [("x Float?", "null"), ("x Float", "0.0")])
    func aNumberIsSuggestedInPlaceOfNaN(_ field: String, _ value: String) throws {
        let plan = try repairs(Self.schema(field), [["_id": 1, "x": .double(.nan)], ["_id": 2, "x": 1.5]])
        #expect(steps(plan).isEmpty)
        #expect(suggestions(plan).count == 1)
        #expect(
            suggestions(plan).first?.hasPrefix("expression: {field: x, value: \(value), when: {$in: [\"$x\", [")
                == true,
            "\(suggestions(plan))")
    }

    @Test func aSuggestedObjectHasTheDefaultsOfItsFields() throws {
        let schema = try Self.schema("addr Addr", "type Addr {\n  city String\n  country String @default(\"DE\")\n}")
        let plan = try repairs(schema, [["_id": 1]])
        #expect(
            suggestions(plan) == [
                "default: {field: addr, value: {city: \"\", country: \"DE\"}, when: missingOrNull}"
            ])
    }

    @Test(arguments: ["String @db.ObjectId", "String", "Int"])
    func noKeyOfARelationIsMadeUp(_ type: String) throws {
        let schema = try Self.schema(
            "u U @relation(fields: [uId], references: [id])\nuId \(type)",
            "model U {\n  id \(type) @id @map(\"_id\")\n  ms M[]\n}")
        let plan = try repairs(schema, [["_id": 1]])
        #expect(steps(plan).isEmpty)
        #expect(suggestions(plan).isEmpty)
        #expect(plan.entries.contains { "\($0.remarks)".contains("only you know the U of these documents") })
    }
}
