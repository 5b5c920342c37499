import Concurrency
import Mongo
import TestSupport
import Testing

@Suite struct ThreadTests {
    @Test func typedErrorsComeThrough() async {
        await #expect(throws: MongoError(.server, .badValue, message: "x")) {
            try await onOwnedThread(name: "thrower") { () throws(MongoError) -> Int in
                throw MongoError(.server, .badValue, message: "x")
            }
        }
    }

    @Test func anActorCallsTheDriverOnItsOwnThread() async throws {
        let mongod = try await Mongod.shared
        #expect(try await Worker().setName(of: mongod) != nil)
    }
}

private actor Worker {
    nonisolated let thread = OwnedThread(name: "worker")
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

    func setName(of mongod: Mongod) throws -> String? {
        assertIsolated()
        return try mongod.pool().client().hello().setName
    }
}
