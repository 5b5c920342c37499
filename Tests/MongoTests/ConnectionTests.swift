import BSON
import Mongo
import TestSupport
import Testing

@Suite struct ConnectionTests {
    /// Opens a connection, which must fail, and returns the error.
    private func failure(_ options: ConnectionOptions) async throws -> MongoError {
        let error = await #expect(throws: MongoError.self) {
            try await ClientPool.open(options).withClient { client throws(MongoError) in
                _ = try client.listCollections(of: "app")
            }
        }
        return try #require(error)
    }

    private func options(_ uri: String, seconds: Int = 2) -> ConnectionOptions {
        var options = ConnectionOptions(uri: uri)
        options.add("serverSelectionTimeoutMS=\(seconds * 800)")
        return options
    }

    @Test(.timeLimit(.minutes(10))) func anUnreachableHostSaysWhyInTime() async throws {
        let error = try await failure(options("mongodb://ada:s3cret@127.0.0.1:1/"))
        #expect(error.isServerSelection)
        #expect(error.isTransient)
        #expect("\(error)".contains("127.0.0.1:1"))
        #expect("\(error)".contains("connection refused"))
        #expect(!"\(error)".contains("s3cret"))
    }

    @Test(.timeLimit(.minutes(10))) func anUnknownHostSaysWhyInTime() async throws {
        let error = try await failure(options("mongodb://no-such-host.invalid/"))
        #expect(error.isServerSelection)
        #expect("\(error)".contains("resolve"))
    }

    @Test func aReplicaSetOfAnotherNameIsNamed() async throws {
        let host = try await Mongod.shared.host
        let error = try await failure(options("mongodb://\(host)/?replicaSet=nope"))
        #expect(error.isServerSelection)
        #expect("\(error)".contains("none of the addresses is a member of a replica set \"nope\""))
    }

    @Test func aLevelThatNoServerKnowsIsRefused() throws {
        let error = try #require(throws: MongoError.self) {
            _ = try MongoURI.parse("mongodb://a/?readConcernLevel=nope")
        }
        #expect(error.code == .invalidArgument)
        #expect("\(error)".contains("readConcernLevel must be one of local, majority"))
    }

    @Test func encryptionThatTheServerDoesNotSpeakSaysSo() async throws {
        let host = try await Mongod.shared.host
        let error = try await failure(options("mongodb://\(host)/?tls=true"))
        #expect(error.isServerSelection)
        #expect("\(error)".contains("TLS"))
    }

    @Test func aFileThatIsNotThereIsNamed() throws {
        let options = ConnectionOptions(uri: "mongodb://127.0.0.1/?tls=true&tlsCAFile=/nowhere/ca.pem")
        let error = try #require(throws: MongoError.self) { _ = try ClientPool.open(options) }
        #expect("\(error)".contains("/nowhere/ca.pem: No such file or directory"))
    }

    @Test func aWrongPasswordIsAnAuthenticationError() async throws {
        let mongod = try await Mongod.withAuthentication
        let error = try await failure(
            options("mongodb://admin:s3cret@\(mongod.host)/?replicaSet=shipshape", seconds: 10))
        #expect(error.isAuthentication)
        #expect(!error.isAuthorization)
        #expect(!error.isTransient)
        #expect(!"\(error)".contains("s3cret"))
    }

    @Test func aMissingPrivilegeIsAnAuthorizationError() async throws {
        let mongod = try await Mongod.withAuthentication
        let uri = try await mongod.addUser("reader", roles: [["role": "read", "db": "mine"]])
        let pool = try ClientPool.open(ConnectionOptions(uri: uri))
        let mine = Namespace(database: "mine", collection: "a")
        let other = Namespace(database: "other", collection: "a")
        #expect(try await pool.run { try $0.collection(mine).countDocuments() } == 0)
        let error = try await #require(throws: MongoError.self) {
            try await pool.run { try $0.collection(other).countDocuments() }
        }
        #expect(error.isAuthorization)
        #expect(!error.isAuthentication)
    }

    @Test func noLoginIsAnAuthorizationError() async throws {
        let mongod = try await Mongod.withAuthentication
        let error = try await failure(options("mongodb://\(mongod.host)/?replicaSet=shipshape", seconds: 10))
        #expect(error.isAuthorization)
    }

    @Test func optionsWinOverTheConnectionString() async throws {
        let mongod = try await Mongod.withAuthentication
        let uri = "mongodb://nobody:nothing@\(mongod.host)/?replicaSet=shipshape&compressors=zlib"
        var options = ConnectionOptions(uri: uri)
        options.username = "admin"
        options.password = "admin-password"
        let pool = try ClientPool.open(options)
        #expect(try await pool.run { try $0.listCollections(of: "nothing") }.isEmpty)
    }

    @Test func theConnectionStringWinsOverDefaults() throws {
        let given = try ConnectionOptions(uri: "mongodb://h/?serverSelectionTimeoutMS=400&appName=mine").resolved()
        #expect(given.serverSelectionTimeout == .milliseconds(400))
        #expect(given.connectTimeout == .milliseconds(300))
        #expect(given.appName == "mine")
        let none = try ConnectionOptions(uri: "mongodb://h/").resolved()
        #expect(none.serverSelectionTimeout == .seconds(8))
        #expect(none.connectTimeout == .seconds(6))
        #expect(none.appName == "shipshape")
    }
}
