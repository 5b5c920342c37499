import ArgumentParser
import BSON
import Mongo

/// The command `demo-data initiate`, which prepares a mongod.
struct Initiate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Makes a fresh mongod the only member of a replica set, and waits until it takes writes.")

    @Option(help: "The address of the mongod.")
    var host: String

    @Option(help: "The name of the replica set, as mongod was started with it.")
    var set: String

    func run() async throws {
        let config: BSONDocument = [
            "_id": .string(set), "members": [["_id": 0, "host": .string(host)]],
        ]
        let pool = try ClientPool.open(ConnectionOptions(uri: "mongodb://\(host)/?directConnection=true"))
        try await pool.withClient { client throws(MongoError) -> Void in
            try client.runCommand(["replSetInitiate": .object(config)], on: "admin")
        }
        for _ in 0..<300 {
            let isReady = try await pool.withClient { client throws(MongoError) in
                try client.hello().isWritablePrimary
            }
            if isReady { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw ValidationError("\(host) did not become primary within 30 s")
    }
}
