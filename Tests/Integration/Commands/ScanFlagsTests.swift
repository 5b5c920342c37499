import BSON
import Checking
import Mongo
import SystemPackage
import TestSupport
import Testing

/// Tests the flags of `check` that say which documents it reads, from which collection, and how fast.
@Suite struct ScanFlagsTests {
    /// Checks 700 people: 300 fit the schema, 300 do not sync, and 100 might not sync.
    ///
    /// - Returns: the run, and the collection that holds the people.
    private func check(
        _ flags: [String], collection: String = "person",
        prepare: (TestDatabase) async throws -> [String] = { _ in [] }
    ) async throws -> (ProgramRun, String) {
        let mongod = try await Mongod.shared
        return try await mongod.withDatabase { database in
            let people = try await ChangingPeople(database, count: 700)
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let schema = try folder.write(ChangingPeople.schema, to: "person.json")
            let more = try await prepare(database)
            let name = more.isEmpty ? "\(database.name).\(collection)" : "prod.person"
            let run = try await Program.run(
                ["check", schema, "--collection", name, "--uri", mongod.uri, "SHIPSHAPE_LEDGER=none"] + flags + more)
            return (run, people.namespace.description)
        }
    }

    @Test func whereReadsOnlyWhatMatches() async throws {
        let (run, _) = try await check(["--where", #"{"_id": {"$lt": 3}}"#])
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(run.output.hasPrefix("Nothing found, but not every document was read"))
        #expect(run.output.contains(".person: 3 documents read "))
        #expect(run.output.contains(#"Only documents that match { "_id": { "$lt": 3 } } were read."#))
    }

    @Test(arguments: [
        (#"{"a": {"$typo": 1}}"#, "the server refuses the filter: unknown operator: "),
        (#"{"$text": {"$search": "x"}}"#, "the server refuses the filter: "),
        ("{a", "it is not one object of extended JSON"), ("5", "it is not one object of extended JSON"),
    ])
    func aFilterThatIsNoneIsWrongUsage(_ filter: String, _ message: String) async throws {
        let (run, _) = try await check(["--where", filter])
        #expect(run.exitCode == 64)
        #expect(run.output == "")
        #expect(run.errors.contains(message), "\(run.errors)")
    }

    @Test(.server(from: 5, for: "errors that say that they are of an expression; elsewhere what may be a value is cut"))
    func anOperatorThatTheServerLacksIsNamed() async throws {
        let (run, _) = try await check(["--where", #"{"a": {"$typo": 1}}"#])
        #expect(run.errors.contains("the server refuses the filter: unknown operator: $typo"), "\(run.errors)")
    }

    @Test func aSampleIsCalledOne() async throws {
        let (run, _) = try await check(["--sample", "5", "-o", "json"])
        let report = try BSONDocument(extendedJSON: run.output)
        let collection = report["collections"]?.document?.values.first?.document
        #expect(collection?["documents_read"] == 5)
        #expect(collection?["reading"]?.document?["selection"]?.document?["kind"] == "sample")
        #expect(report["verdict"]?.document?["band"] != "safe")
    }

    @Test func thePrefilterChangesNothingButTheReading() async throws {
        let (plain, name) = try await check([])
        let (filtered, filteredName) = try await check(["SHIPSHAPE_PREFILTER=true"])
        func findings(_ run: ProgramRun) -> [Substring] {
            run.output.split(separator: "\n").filter { $0.hasPrefix("  ") && !$0.contains("prefilter") }
        }
        #expect(findings(plain) == findings(filtered))
        #expect(filtered.output.contains("\(filteredName): 400 documents read of about 700, 300 (42.9%) do not sync"))
        #expect(filtered.output.contains("About 300 documents were not read: the prefilter proves that they fit.\n"))
        #expect(plain.output.contains("\(name): 700 documents read"))
    }

    @Test func anotherNameIsReadAndSaid() async throws {
        let (run, name) = try await check([]) { ["--map", "prod=\($0.name)"] }
        #expect(run.exitCode == 1, "\(run.errors)")
        #expect(run.output.contains("prod.person (read from \(name)): 700 documents read"))
    }

    @Test func theLedgerIsLookedUpByTheSchemasNames() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            let people = try await ChangingPeople(database, count: 7)
            try await database.fill(
                "ledger", [["appId": 1, "ns": ["db": "prod", "coll": "Person"], "documentId": 3]])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let schema = try folder.write(ChangingPeople.schema, to: "person.json")
            let run = try await Program.run([
                "check", schema, "--collection", "prod.Person", "--uri", mongod.uri,
                "SHIPSHAPE_LEDGER=\(database.name).ledger", "--map", "prod.Person=\(people.namespace)", "--map",
                "prod=nowhere",
            ])
            #expect(
                run.output.contains("7 documents read, 3 (42.9%) do not sync (2 not in the ledger)"),
                "\(run)")
        }
    }

    @Test(arguments: [
        ("other=copy", 64, "--map other=copy: the schema has no such database or collection"),
        ("a=b.c", 64, "The value 'a=b.c' is invalid for '--map <prod=copy>'"), ("x", 64, "The value 'x' is invalid"),
        ("=x", 64, "is invalid"), ("x=", 64, "is invalid"),
    ])
    func aMapThatIsNoneIsWrongUsage(_ map: String, _ code: Int32, _ message: String) async throws {
        let (run, _) = try await check(["--map", map])
        #expect(run.exitCode == code)
        #expect(run.errors.contains(message), "\(run.errors)")
    }

    @Test(arguments: ["--where={}", "--sample=5"])
    func flagsThatNeedAServerAreRefusedForADump(_ flag: String) async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let schema = try folder.write(ChangingPeople.schema, to: "person.json")
        try folder.write([UInt8](), to: "dump/app/person.bson")
        let run = try await Program.run([
            "check", schema, "--collection", "app.person", "--source", folder.path.appending("dump").string, flag,
        ])
        #expect(run.exitCode == 64)
        #expect(run.errors.contains("--source excludes \(flag.prefix { $0 != "=" })"), "\(run.errors)")
    }

    @Test func aDumpIsFoundUnderItsOtherName() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let schema = try folder.write(ChangingPeople.schema, to: "person.json")
        try folder.write(ChangingPeople.person(3, kind: 3).bytes, to: "dump/copy/person.bson")
        let run = try await Program.run([
            "check", schema, "--collection", "prod.person", "--source", folder.path.appending("dump").string,
            "--map", "prod=copy",
        ])
        #expect(
            run.output.contains("prod.person (read from copy.person): 1 document read, 1 (100%) does not sync"),
            "\(run)")
    }

    @Test(.server(from: 5, for: "time series")) func aTimeSeriesIsRefused() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.run(["create": "person", "timeseries": ["timeField": "t"]])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let run = try await Program.run(try folder.check(database, on: mongod))
            #expect(run.exitCode == 65)
            #expect(run.errors.contains("\(database.name).person is a time series"))
        }
    }

    @Test func aSignalEndsTheWaitOfARate() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            let people = try await ChangingPeople(database, count: 700)
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let schema = try folder.write(ChangingPeople.schema, to: "person.json")
            let appName = "\(database.name)_rate"
            // At one document per second, the check would take more than ten minutes.
            let run = try await Program.run([
                "check", schema, "--collection", "\(people.namespace)", "--uri", mongod.uri(appName: appName),
                "SHIPSHAPE_LEDGER=none", "SHIPSHAPE_RATE=1", "SHIPSHAPE_THREADS=1",
            ]) { program in
                // An idle cursor on the server shows that the check waits before it reads on.
                try await waitUntil("the scan waits") { try await mongod.hasIdleCursor(of: people.namespace) }
                program.send(2)
            }
            #expect(run.exitCode == 75)
        }
    }
}

extension Mongod {
    fileprivate func hasIdleCursor(of namespace: Namespace) async throws -> Bool {
        let reply = try await admin([
            "aggregate": 1, "cursor": [:],
            "pipeline": [
                ["$currentOp": ["idleCursors": true, "allUsers": true]],
                ["$match": ["type": "idleCursor", "ns": .string("\(namespace)"), "cursor.tailable": false]],
            ],
        ])
        return reply["cursor"]?.document?["firstBatch"]?.document.map { !$0.isEmpty } ?? false
    }
}
