import BSON
import Mongo
import TestSupport
import Testing

@testable import Jobs

/// Tests the program's list of operators against a server: the server knows each operator from the listed version on,
/// and not before.
@Suite struct ExpressionServerTests {
    /// The error codes for an unknown operator: mongod's InvalidPipelineOperator, and the code within a projection.
    private static let unknown: Set = [MongoError.Code(rawValue: 168), MongoError.Code(rawValue: 31_325)]

    @Test func operatorsAreKnownFromTheVersionThatIsStated() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("a", [["x": 1]])
            let namespace = database.namespace("a")
            try await database.pool.withClient { client throws(MongoError) in
                let version = try client.hello().maxWireVersion
                for (name, since) in ExpressionOperator.all {
                    var code: MongoError.Code?
                    do throws(MongoError) {
                        _ = try client.collection(namespace).aggregate([["$project": ["y": .object([name: "$x"])]]])
                            .documents()
                    } catch { code = error.code }
                    #expect((code.map(Self.unknown.contains) != true) == (since.wireVersion <= version), "\(name)")
                }
            }
        }
    }
}
