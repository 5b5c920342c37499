import BSON
import Jobs
import Proving
import ServerSchema
import TestSupport
import Testing

/// Tests the steps `default`, `copy` and `convert` over the values in ``OddValues``.
@Suite struct StepsTests {
    @Test(arguments: [false, true]) func defaultFillsWhatIsNotThere(nullsToo: Bool) async throws {
        try await Mongod.shared.withDatabase { database in
            let step = Step.default(field: try path("v"), value: "new", nullsToo: nullsToo)
            let run = try await StepsRun(step, over: OddValues.all.documents(), in: database)
            try run.expectSound()
            let filled = zip(OddValues.all, run.classes).filter(\.1.isNeeded).map(\.0.name)
            #expect(filled == (nullsToo ? ["missing", "null", "undefined"] : ["missing"]))
        }
    }

    @Test func copyTakesEveryValueByteByByte() async throws {
        try await Mongod.shared.withDatabase { database in
            let step = Step.copy(from: try path("v"), to: try path("w"))
            // A document with two copies of the huge text would exceed the size limit of documents.
            let values = OddValues.all.filter { $0.name != "a huge text" }
            let run = try await StepsRun(step, over: values.documents(), in: database)
            try run.expectSound()
            for (old, new) in zip(run.before, run.after) {
                #expect(new["w"]?.bytes == old["v"]?.bytes, "\(old["name"]?.text ?? "")")
            }
            #expect(run.classes.count(where: \.isNeeded) == values.count - 1)
        }
    }

    @Test(arguments: OddValues.everyType + OddValues.decimals + OddValues.containers)
    func defaultStoresEveryLiteralByteByByte(_ odd: OddValue) async throws {
        try await Mongod.shared.withDatabase { database in
            let literal = try #require(odd.value)
            let step = Step.default(field: try path("v"), value: literal, nullsToo: false)
            let nested = Step.default(field: try path("o.v"), value: literal, nullsToo: false)
            let run = try await StepsRun(step, nested, over: [["_id": 1, "o": ["a": 1]]], in: database)
            #expect(run.after == [["_id": 1, "o": ["a": 1, "v": literal], "v": literal]])
            #expect(run.remaining == 0)
            #expect(run.modifiedAgain == 0)
        }
    }

    @Test(arguments: Conversion.targets) func convertInPlace(to type: SchemaType) async throws {
        try await Mongod.shared.withDatabase { database in
            let step = Step.convert(field: try path("v"), to: type, into: nil)
            try await StepsRun(step, over: OddValues.all.documents(), in: database).expectSound()
        }
    }

    @Test(arguments: Conversion.targets) func convertIntoASecondField(to type: SchemaType) async throws {
        try await Mongod.shared.withDatabase { database in
            let step = Step.convert(field: try path("v"), to: type, into: try path("w"))
            let values = OddValues.all.filter { $0.name != "a huge text" }
            let run = try await StepsRun(step, over: values.documents(), in: database)
            try run.expectSound()
            for (old, new) in zip(run.before, run.after) { #expect(new["v"]?.bytes == old["v"]?.bytes) }
        }
    }

    /// The step skips a document whose target differs from its source, even if `$eq` considers the two values equal.
    @Test func copyToATargetThatHoldsAValue() async throws {
        try await Mongod.shared.withDatabase { database in
            let values: [BSONValue] = [
                .null, .undefined, 1, .long(1), 1.0, "1", .symbol("1"), [1], [.long(1)], [1.0], ["a": 1], [:], [],
            ]
            let pairs = values.flatMap { left in values.map { right in (left, right) } }
            let documents = pairs.enumerated().map { index, pair in
                BSONDocument([("_id", .integer(index)), ("v", pair.0), ("w", pair.1)])
            }
            let run = try await StepsRun(
                .copy(from: try path("v"), to: try path("w")), over: documents, in: database)
            try run.expectSound()
            for ((source, target), found) in zip(pairs, run.classes) {
                #expect(found.reasons == (source == target ? [] : [.targetDiffers]), "\(source.type) \(target.type)")
            }
        }
    }
}
