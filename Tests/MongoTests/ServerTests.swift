import BSON
import Mongo
import TestSupport
import Testing

@Suite struct ServerTests {
    @Test func helloShowsTheTopology() async throws {
        let hello = try await Mongod.shared.pool().run { try $0.hello() }
        #expect(hello.topology == .replicaSet)
        #expect(hello.isWritablePrimary)
        #expect(hello.setName != nil)
        #expect(hello.maxWireVersion >= 9)
        #expect(hello.reply["lastWrite"] != nil)
    }

    @Test func aStandaloneServerIsRecognised() async throws {
        let mongod = try await Mongod.start(.standalone)
        let hello = try await mongod.pool().run { try $0.hello() }
        #expect(mongod.isOurs)
        #expect(hello.topology == .standalone)
        #expect(hello.isWritablePrimary)
        #expect(hello.setName == nil)
    }

    @Test func buildInfoShowsTheVersion() async throws {
        let info = try await Mongod.shared.pool().run { try $0.buildInfo() }
        #expect(info.numbers.count >= 3)
        #expect(info.isAtLeast(4, 4))
        #expect(!info.isAtLeast(99))
        #expect(info.version.hasPrefix("\(info.numbers[0]).\(info.numbers[1])"))
    }

    @Test func collectionsAreDescribed() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.run([
                "create": "plain", "collation": ["locale": "de"], "validator": ["x": ["$exists": true]],
            ])
            try await database.run(["create": "view", "viewOn": "plain", "pipeline": []])
            let name = database.name
            let infos = try await database.pool.run { try $0.listCollections(of: name) }
            let byName = Dictionary(uniqueKeysWithValues: infos.map { ($0.name, $0) })
            #expect(byName["plain"]?.kind == .collection)
            #expect(byName["plain"]?.collation?["locale"] == "de")
            #expect(byName["plain"]?.validator == ["x": ["$exists": true]])
            #expect(byName["plain"]?.uuid?.type == .binData)
            #expect(byName["view"]?.kind == .view)
            #expect(byName["view"]?.uuid == nil)
            #expect(byName["plain"]?.isClustered == false)
        }
    }

    @Test(.server(from: 5, for: "time series")) func aTimeSeriesIsDescribed() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.run(["create": "times", "timeseries": ["timeField": "t"]])
            let namespace = database.namespace("times")
            let info = try await database.pool.run { try $0.collectionInfo(namespace) }
            #expect(info?.kind == .timeseries)
        }
    }

    @Test(.server(from: 5, 3, for: "clustered collections")) func aClusteredCollectionIsDescribed() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.run([
                "create": "clustered", "clusteredIndex": ["key": ["_id": 1], "unique": true],
            ])
            let namespace = database.namespace("clustered")
            let info = try await database.pool.run { try $0.collectionInfo(namespace) }
            #expect(info?.isClustered == true)
        }
    }

    @Test func aCollectionThatIsNotThereHasNoDescription() async throws {
        try await Mongod.shared.withDatabase { database in
            let namespace = database.namespace("nothing")
            let info = try await database.pool.run { try $0.collectionInfo(namespace) }
            #expect(info == nil)
        }
    }

    @Test func operationsOfASessionCarryItsID() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("a", count: 3)
            let namespace = database.namespace("a")
            let (id, time, count) = try await database.pool.run { client in
                let session = try client.startSession()
                let options = try session.options(adding: ["comment": "mine"])
                let count = try client.collection(namespace).find([:], options: options).documents().count
                return (session.id, session.operationTime, count)
            }
            #expect(id["id"]?.type == .binData)
            #expect(time > 0)
            #expect(count == 3)
        }
    }

    @Test(.server(from: 5, for: "sessions of one point in time")) func aSnapshotSessionSeesOnePointInTime() async throws
    {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("a", count: 3)
            let namespace = database.namespace("a")
            let counts = try await database.pool.run { client in
                let collection = client.collection(namespace)
                let session = try client.startSession(isSnapshot: true)
                let options = try session.options()
                let before = try collection.find([:], options: options).documents().count
                try collection.insert([["_id": 99]], options: ["writeConcern": ["w": "majority"]])
                let after = try collection.find([:], options: options).documents().count
                return (before, after)
            }
            #expect(counts == (3, 3))
        }
    }

    @Test func commandsTakeTheirOwnReadAndWriteConcerns() async throws {
        try await Mongod.shared.withDatabase { database in
            var options = try await Mongod.shared.options
            options.add("w=1&journal=true&wTimeoutMS=5000&readConcernLevel=majority")
            options.readPreference = .secondaryPreferred
            let pool = try ClientPool.open(options)
            let name = database.name
            let reply = try await pool.run { client in
                try client.runWriteCommand(
                    ["insert": "a", "documents": [["_id": 1]], "writeConcern": ["w": "majority"]], on: name)
                return try client.runReadCommand(["count": "a", "readConcern": ["level": "local"]], on: name)
            }
            #expect(reply["n"]?.integer == 1)
        }
    }
}
