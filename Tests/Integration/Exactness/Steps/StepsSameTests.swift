import BSON
import Jobs
import Mongo
import ServerSchema
import TestSupport
import Testing

/// Tests which values of a step's source and target count as the same, and that a collation does not change this.
@Suite struct StepsSameTests {
    private static func decimal(_ text: String) -> BSONValue { Decimal128(text).map { .decimal($0) } ?? nil }

    /// Groups of values that look alike.
    ///
    /// `$eq` takes many values of the same group as equal, but a step must not.
    static let similar: [[BSONValue]] = [
        [1, 1.0, .long(1), decimal("1"), decimal("1.0"), decimal("1.00")],
        [0, 0.0, -0.0, .long(0), decimal("0"), decimal("-0"), decimal("0E+3"), decimal("-0E+3")],
        [.double(.nan), decimal("NaN")], ["a", .symbol("a")], [nil, .undefined],
        [["a": 1, "b": 2], ["b": 2, "a": 1], ["a": .long(1), "b": 2], ["a": 1.0, "b": 2]],
        [
            ["a": ["b": [1.0]]], ["a": ["b": [.long(1)]]], ["a": ["b": [decimal("1.0")]]],
            ["a": ["b": [decimal("1.00")]]],
        ],
        [[0.0], [-0.0], [.long(0)], ["0": 0.0]], [["a": "x"], ["a": .symbol("x")]], [[[1.0]], [[.long(1)]]],
        [["a": nil], [:], ["a": .undefined]], [true, 1, "true"],
    ]

    @Test func copyDistinguishesSimilarValues() async throws {
        try await Mongod.shared.withDatabase { database in
            let pairs = Self.similar.flatMap { group in group.flatMap { left in group.map { (left, $0) } } }
            let documents = pairs.enumerated().map { index, pair in
                BSONDocument([("_id", .integer(index)), ("v", pair.0), ("w", pair.1)])
            }
            let run = try await StepsRun(.copy(from: try path("v"), to: try path("w")), over: documents, in: database)
            try run.expectSound()
            for ((left, right), found) in zip(pairs, run.classes) {
                let isSame = left.bytes == right.bytes
                #expect(found.reasons == (isSame ? [] : [.targetDiffers]), "\(left) and \(right)")
            }
        }
    }

    /// The step compares values exactly down to five levels of nesting.
    ///
    /// Below the fifth level, the step compares values by `$eq` and by their size. An `int` and an equal `double`
    /// therefore differ, but a `long` and an equal `double` count as the same. In both cases, the step does not
    /// overwrite the target.
    @Test func exactDownToTheStatedDepth() async throws {
        func nested(_ value: BSONValue, _ levels: Int) -> BSONValue {
            (0..<levels).reduce(value) { inner, level in level % 2 == 0 ? ["a": inner] : [inner] }
        }
        try await Mongod.shared.withDatabase { database in
            let documents: [BSONDocument] = [
                ["_id": 0, "v": nested(1.0, 5), "w": nested(.long(1), 5)],
                ["_id": 1, "v": nested(1.0, 6), "w": nested(.long(1), 6)],
                ["_id": 2, "v": nested(1.0, 6), "w": nested(1, 6)],
                ["_id": 3, "v": nested(1.0, 6), "w": nested(1.0, 6)],
                ["_id": 4, "v": nested(1.0, 150), "w": nested(2.0, 150)],
            ]
            let run = try await StepsRun(.copy(from: try path("v"), to: try path("w")), over: documents, in: database)
            try run.expectSound()
            #expect(run.classes.map { $0.reasons == [.targetDiffers] } == [true, false, true, false, true])
        }
    }

    /// If the target of a conversion differs from the result, the step skips the document.
    ///
    /// For the result 36, the target 36.0 differs too, although `$eq` takes the two as equal.
    @Test func convertIntoDistinguishesSimilarValues() async throws {
        try await Mongod.shared.withDatabase { database in
            let documents: [BSONDocument] = [
                ["_id": 0, "v": "36", "w": 36], ["_id": 1, "v": "36", "w": 36.0],
                ["_id": 2, "v": "36", "w": .long(36)],
                ["_id": 3, "v": "36", "w": nil], ["_id": 4, "v": 36, "w": 36], ["_id": 5, "v": "x", "w": 36],
            ]
            let step = Step.convert(field: try path("v"), to: .int, into: try path("w"))
            let run = try await StepsRun(step, over: documents, in: database)
            try run.expectSound()
            #expect(
                run.classes.map(\.reasons) == [
                    [], [.targetDiffers], [.targetDiffers], [.targetDiffers], [], [.noValue],
                ])
        }
    }

    /// A collation that ignores the case of texts does not change a conversion, which depends on the bytes of the text.
    @Test func aCollationChangesNothing() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.run([
                "create": "c", "collation": ["locale": "en", "strength": 1, "alternate": "shifted"],
            ])
            let documents: [BSONDocument] = [
                ["_id": 0, "v": "TRUE", "w": "true"], ["_id": 1, "v": "true", "w": "true"],
                ["_id": 2, "v": "tr-ue", "w": "trué"], ["_id": 3, "v": "FALSE"], ["_id": 4, "v": "false"],
            ]
            let run = try await StepsRun(
                .convert(field: try path("v"), to: .bool, into: nil), over: documents, in: database)
            try run.expectSound()
            #expect(run.after.map { $0["v"] } == ["TRUE", true, "tr-ue", "FALSE", false])
        }
        let texts: [(String, SchemaType, CompiledStep.Reason)] = [
            ("0123456789ABCDEF01234567", .objectId, .rounded), ("2020-01-01t00:00:00z", .date, .noValue),
            ("1.5-0", .decimal, .noValue), ("INFINITY", .double, .rounded),
        ]
        for (text, type, reason) in texts {
            try await Mongod.shared.withDatabase { database in
                try await database.run([
                    "create": "c", "collation": ["locale": "en", "strength": 1, "alternate": "shifted"],
                ])
                let run = try await StepsRun(
                    .convert(field: try path("v"), to: type, into: nil),
                    .copy(from: try path("v"), to: try path("w")),
                    over: [["_id": 1, "v": .string(text), "w": .string(text.lowercased())]], in: database)
                #expect(run.after == run.before, "\(text)")
                #expect(run.classes[0].reasons == [reason])
            }
        }
    }
}
