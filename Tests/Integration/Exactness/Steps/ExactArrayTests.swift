import BSON
import Mongo
import Proving
import TestSupport
import Testing

@testable import Jobs

/// Tests on a server that the conditions for a known array match only arrays with the same bytes.
///
/// The operator `$eq` also matches arrays with other bytes, for example with another numeric type.
@Suite struct ExactArrayTests {
    private static let values: [BSONValue] =
        OddValues.all.filter { !left.contains($0.name) }.compactMap(\.value) + [.symbol("a"), "a"]
    /// The names of two values that are left out: a text of megabytes, and a value that the driver does not send in an
    /// aggregation.
    private static let left = ["a huge text", "object of the odd"]

    /// Arrays that contain a value at different depths, some of them beside values of other types.
    private static let shapes: [@Sendable (BSONValue) -> BSONValue] = [
        { [$0] }, { [["k": $0]] }, { [["k": $0, "l": 1], ["l": "b"], 7, nil] }, { [[$0, 1.5], []] },
        { [["k": [$0, ["m": $0]]], ["k": nil]] }, { [["k": ["m": $0]], ["k": ["m": 2.5]]] },
    ]

    @Test(arguments: shapes.indices) func aKnownArrayEqualsOnlyItself(_ shape: Int) async throws {
        let arrays = Self.values.map(Self.shapes[shape])
        try await Mongod.shared.withDatabase { database in
            try await database.fill("c", count: arrays.count) { ["_id": .integer($0), "v": arrays[$0]] }
            let namespace = database.namespace("c")
            var short = 0
            for known in arrays {
                let conditions = try Expression.areExactly(["v"], asIn: ["v": known], isBinary: true)
                if conditions != (try Expression.areExactly(["v"], asIn: ["v": known])) { short += 1 }
                let same = try await database.pool.run {
                    try $0.collection(namespace).aggregate([
                        ["$match": .object(Expression.all(conditions).filter)], ["$project": ["_id": 1]],
                    ]).documents()
                }
                let expected = arrays.indices.filter { arrays[$0].bytes == known.bytes }
                #expect(Set(same.compactMap { $0["_id"]?.integer }) == Set(expected), "\(known)")
            }
            #expect(short > arrays.count / 3, "\(short) of \(arrays.count) arrays are compared by their facts")
        }
    }
}
