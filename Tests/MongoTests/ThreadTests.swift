import Concurrency
import Mongo
import Testing

@Suite struct ThreadTests {
    @Test func typedErrorsComeThrough() async {
        await #expect(throws: MongoError(.server, .badValue, message: "x")) {
            try await onOwnedThread(name: "thrower") { () throws(MongoError) -> Int in
                throw MongoError(.server, .badValue, message: "x")
            }
        }
    }
}
