import BSON
import Checking
import Partners
import ServerSchema
import Testing

@testable import Planning

/// Tests the steps that are planned for what a sync engine refuses or loses, without a survey of the documents.
@Suite struct EngineRepairTests {
    /// Returns the plan of repairs for a collection `app.T` without a schema.
    ///
    /// The function also compiles each planned job that is not a draft, and throws an error if that fails.
    private func plan(
        _ documents: [BSONDocument], for engine: Engine = .powersync,
        columns: [String: EngineSettings.ColumnType] = [:],
        model: String? = nil
    ) throws -> SchemaPlan {
        var collection = CollectionSchema(
            namespace: Namespace(database: "app", collection: "T"),
            root: SchemaNode(location: SourceLocation(file: "x", line: 1, column: 1)))
        collection.dialect = .jsonSchema
        var options = CheckOptions()
        var settings = EngineSettings(engine)
        settings.columns = ["T": columns]
        settings.model = try model.map { try ObjectBoxModel.parse($0, path: "model.json") }
        options.engine = settings
        var tally = Tally(CompiledSchema(collection, options: options))
        for document in documents { try tally.add(document.view) }
        let report = CheckReport(
            source: "test", collections: [CheckReport.Collection(tally)], ledger: nil, duration: .zero)
        let schema = ServerSchema(dialect: .jsonSchema, collections: [collection])
        let planner = Planner(from: schema, to: schema)
        let plan = try planner.repairs(of: report, includesPossible: true)
        for job in plan.jobs where !job.isDraft { _ = try planner.compiled(job) }
        return plan
    }

    private func steps(_ plan: SchemaPlan) -> [String] { plan.jobs.flatMap(\.steps).map(\.text) }

    private static let far = BSONValue.date(milliseconds: .max)

    @Test func whatHaltsTheEngineComesFirst() throws {
        let plan = try plan([["_id": 1, "a": .double(.nan), "b": ["x": .minKey], "z": [["at": Self.far]]]])
        let kinds = plan.jobs.flatMap(\.entries).map { $0.step?.text(of: "field") ?? "" }
        #expect(kinds == ["z[].at", "a", "b.x"])
        #expect(plan.unplanned == 0 && plan.reviews == 3)
        #expect(plan.collections.allSatisfy { $0.validator == nil })
    }

    /// The step that removes such a value comes last only if another step reads the field.
    @Test func theRemovalOfWhatHaltsTheEngineComesFirst() throws {
        let wrong = BSONValue.binary(subtype: 2, bytes: [9, 0, 0, 0, 1])
        let first = try plan([["_id": 1, "a": .double(.nan), "o": ["b": wrong], "z": wrong]])
        #expect(first.jobs.flatMap(\.steps).map { $0.text(of: "field") } == ["o.b", "z", "a"])
        let roles = first.jobs.flatMap(\.entries).map { $0.step == nil ? "remark" : "step" }
        #expect(roles == ["step", "remark", "step", "remark", "step"])
        let last = try plan(
            [["_id": 1, "z": wrong], ["_id": 2, "z": "x"]], columns: ["z": .integer])
        #expect(steps(last) == ["convert: {field: z, to: long}", "unset: {field: z}"])
    }

    @Test func aDateBecomesTheNearestThatAClientHolds() throws {
        let steps = try steps(plan([["_id": 1, "at": Self.far]]))
        #expect(
            steps == [
                "expression: {field: at, value: {$max: [{$min: [\"$at\", "
                    + "{$date: {$numberLong: \"8640000000000000\"}}]}, "
                    + "{$date: {$numberLong: \"-8640000000000000\"}}]}, when: {$eq: [{$type: \"$at\"}, date]}}"
            ])
    }

    @Test(
        arguments: [
            (.double(.infinity), "expression"), (.maxKey, "expression"), (.undefined, "expression"),
        ] as [(BSONValue, String)])
    func aValueThatIsNoneIsReplaced(_ value: BSONValue, _ kind: String) throws {
        let plan = try plan([["_id": 1, "x": value]])
        #expect(plan.jobs.flatMap(\.steps).map(\.kind) == [kind] && plan.unplanned == 0)
    }

    @Test func binaryDataWithAWrongLengthIsRemoved() throws {
        let plan = try plan([["_id": 1, "x": .binary(subtype: 2, bytes: [9, 0, 0, 0, 1])]])
        #expect(steps(plan) == ["unset: {field: x}"])
    }

    @Test func aTimestampFrom2038BecomesSeconds() throws {
        let plan = try plan(
            [["_id": 1, "at": .timestamp(3_000_000_000 << 32)]], columns: ["at": .integer])
        #expect(
            steps(plan) == [
                "expression: {field: at, value: {$toLong: {$divide: [{$toLong: {$toDate: \"$at\"}}, 1000]}}, "
                    + "when: {$eq: [{$type: \"$at\"}, timestamp]}}"
            ])
    }

    @Test func aValueIsConvertedToTheTypeOfItsColumn() throws {
        let plan = try plan(
            [["_id": 1, "age": "x", "price": "y"]],
            columns: ["age": .integer, "price": .real])
        #expect(steps(plan) == ["convert: {field: age, to: long}", "convert: {field: price, to: double}"])
    }

    @Test func aNestedObjectMovesToItsOwnCollection() throws {
        let deep = (0..<22).reduce(BSONValue.int(1)) { value, _ in ["o": value] }
        #expect(
            try steps(plan([["_id": 1, "chain": deep]])) == [
                "extract: {field: chain, to: app.T_chain, generate: objectId}"
            ])
        let list = (0..<22).reduce(BSONValue.int(1)) { value, _ in [value] }
        let draft = try plan([["_id": 1, "chain": list]])
        #expect(steps(draft) == [] && draft.entries.flatMap(\.suggestions).map(\.text) == ["unset: {field: chain}"])
    }

    @Test func theLargestTextOfALargeRowIsCutOff() throws {
        let text = BSONValue.string(String(repeating: "x", count: 15 << 20))
        let steps = try steps(plan([["_id": 1, "name": "a", "log": text]]))
        #expect(
            steps.count == 1
                && steps[0].hasPrefix("expression: {field: log, value: {$substrCP: [\"$log\", 0, 1000000]}"))
    }

    @Test func aReservedNameIsReplaced() throws {
        #expect(try steps(plan([["_id": 1, "__proto__": 1]])) == ["rename: {from: __proto__, to: proto}"])
        #expect(try steps(plan([["_id": "a", "_rev": 1]], for: .couchbase)) == ["rename: {from: _rev, to: rev}"])
        #expect(
            try steps(plan([["_id": "a", "_sync_x": 1]], for: .couchbase)) == ["rename: {from: _sync_x, to: sync_x}"])
    }

    /// A part of the document that is too large on its own goes into a second collection; the rest of it arrives.
    @Test func aLargeObjectIsSplitOff() throws {
        let text = BSONValue.string(String(repeating: "x", count: 8 << 20))
        let object = try steps(plan([["_id": 1, "name": "a", "log": ["a": text, "b": text]]]))
        #expect(object == ["extract: {field: log, to: app.T_log, generate: objectId}"])
        let list = try plan([["_id": 1, "log": [text, text]]])
        #expect(
            list.entries.flatMap(\.suggestions).map(\.text) == [
                "extract: {field: log, to: app.T_log, generate: objectId}", "unset: {field: log}",
            ])
    }

    @Test func aSingleValueBecomesTheListOfAVector() throws {
        let model = #"{"entities": [{"name": "T", "properties": [{"name": "tags", "type": 30}]}]}"#
        #expect(try steps(plan([["_id": 1, "tags": "a"]], for: .objectbox, model: model)) == ["wrap: {field: tags}"])
    }

    @Test(arguments: [nil, .double(0), ["a": .regex(pattern: "(?i)x", options: "")]] as [BSONValue])
    func noStepChangesAnID(_ id: BSONValue) throws {
        let plan = try plan([["_id": id]])
        #expect(steps(plan) == [] && plan.unplanned == 1 && plan.partners.isEmpty)
        let remark = try #require(plan.entries.first { $0.role == .manual }?.remarks.first)
        #expect(remark.contains("_id cannot be changed in place") && !remark.contains("partner"))
    }

    @Test(
        arguments: [
            (0, .powersync, "int"), (.objectID(ObjectID(high: 1, low: 2)), .rxdb, "objectId"), (.long(3), .rxdb, "int"),
        ] as [(BSONValue, Engine, String)])
    func idsWithATextGetAPartner(_ id: BSONValue, _ engine: Engine, _ type: String) throws {
        let plan = try plan([["_id": id]], for: engine)
        let partner = try #require(plan.partners.first)
        #expect("\(partner.source)" == "app.T" && "\(partner.target)" == "app.TV2" && partner.open.isEmpty)
        #expect(partner.id?.types.from == type && partner.id?.types.to == "string")
        // Not if other _ids of the collection have no text that leads back to them.
        #expect(try self.plan([["_id": id], ["_id": nil], ["_id": .double(0.5)]], for: engine).partners.isEmpty)
    }
}
