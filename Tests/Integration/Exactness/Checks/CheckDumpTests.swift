import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests that a check of a dump finds the same as a check of the live collection, and names the problem of a bad file.
@Suite struct CheckDumpTests {
    /// Documents that fit, fail or might fail, by their number.
    ///
    /// A document fails if the number is divisible by 3 or by 7; otherwise, it might fail if the number is divisible by
    /// 5.
    private static let people: [BSONDocument] = (0..<500).map { number in
        var builder = BSONBuilder()
        builder.append("_id", .integer(number))
        if number % 3 != 0 { builder.append("name", number % 7 == 0 ? .int(1) : "Ada") }
        builder.append("age", number % 5 == 0 ? .long(36) : .int(36))
        return builder.finish()
    }

    private static func bytes(_ documents: some Sequence<BSONDocument>) -> [UInt8] { documents.flatMap(\.bytes) }

    private func withFolder(_ body: (CommandLineFolder, _ schema: String) async throws -> Void) async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try await body(folder, try folder.write(CommandLineFolder.person, to: "person.json"))
    }

    /// Checks a file or folder as the collection `app.person`.
    private func check(_ source: String, _ schema: String, _ more: [String] = []) async throws -> ProgramRun {
        try await Program.run(["check", schema, "--collection", "app.person", "--source", source] + more)
    }

    /// Checks a file or folder, expects an error of one line and exit code 65, and returns that line.
    private func refusal(_ source: String, _ schema: String) async throws -> String {
        let run = try await check(source, schema)
        #expect(run.exitCode == 65)
        #expect(run.output == "")
        #expect(run.errorLines.count == 1)
        return run.errors
    }

    @Test func aDumpIsWhatTheCollectionIs() async throws {
        let mongod = try await Mongod.shared
        try await withFolder { folder, schema in
            try await mongod.withDatabase { database in
                try await database.fill("person", Self.people)
                try folder.write(Self.bytes(Self.people), to: "dump/\(database.name)/person.bson")
                try folder.write(#"{"options":{},"indexes":[]}"#, to: "dump/\(database.name)/person.metadata.json")
                let arguments = ["check", schema, "--collection", "\(database.name).person", "-o", "json"]
                let live = try await Program.run(
                    arguments + ["--uri", mongod.uri, "SHIPSHAPE_LEDGER=none", "SHIPSHAPE_THREADS=1"])
                for path in ["dump", "dump/\(database.name)", "dump/\(database.name)/person.bson"] {
                    let dump = try await Program.run(
                        arguments + ["--source", folder.path.appending(path).string])
                    #expect(dump.exitCode == 1)
                    #expect(dump.errors == "")
                    let (one, other) = (try findings(live.output), try findings(dump.output))
                    #expect(one == other)
                }
            }
        }
    }

    /// Returns the part of a JSON report that must be the same for a check of a dump and a check of the live
    /// collection.
    private func findings(_ report: String) throws -> String {
        let document = try BSONDocument(extendedJSON: report)
        let collection = try #require(document["collections"]?.document?.values.first?.document)
        #expect(collection["documents_read"]?.integer == 500)
        return try collection.removing("documents_estimated").removing("reading").extendedJSON()
    }

    @Test func withoutALedgerADumpSaysSo() async throws {
        try await withFolder { folder, schema in
            let file = try folder.write(Self.bytes(Self.people.prefix(1)), to: "person.bson")
            let run = try await check(file, schema)
            #expect(run.output.contains("no ledger was read: give --uri to count the documents that are unsynced"))
        }
    }

    @Test func aDumpCountsTheLedgerOfADeploymentThatIsNamed() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            let entry: BSONDocument = ["_id": 1, "appId": "a", "documentId": 0, "ns": ["db": "app", "coll": "person"]]
            try await database.fill("ledger", [entry])
            try await withFolder { folder, schema in
                let file = try folder.write(Self.bytes(Self.people), to: "person.bson")
                let run = try await check(
                    file, schema,
                    ["--uri", mongod.uri, "SHIPSHAPE_LEDGER=\(database.name).ledger", "SHIPSHAPE_LIMIT=1"])
                #expect(run.output.contains("(1 in the ledger now)"), "\(run.output)")
            }
        }
    }

    @Test func aTruncatedFileIsNamedWithItsByteAndItsGoodDocuments() async throws {
        try await withFolder { folder, schema in
            let bytes = Self.bytes(Self.people)
            let good = Self.bytes(Self.people.prefix(499)).count
            for cut in [1, 5, bytes.count - good - 1] {
                let file = try folder.write(bytes.dropLast(cut), to: "person.bson")
                let line = try await refusal(file, schema)
                #expect(
                    line == "shipshape: \(file) ends inside a document at byte \(bytes.count - cut); "
                        + "499 documents before it are good\n")
            }
        }
    }

    @Test func aDamagedFileIsNamedWithItsByteAndItsGoodDocuments() async throws {
        try await withFolder { folder, schema in
            var bytes = Self.bytes(Self.people)
            let start = Self.bytes(Self.people.prefix(300)).count
            // This byte is the type of the document's first field, `_id`. The reader reports the damage at the field's
            // value, which begins five bytes later.
            bytes[start + 4] = 0x77
            let file = try folder.write(bytes, to: "person.bson")
            let line = try await refusal(file, schema)
            #expect(line.contains("\(file) is damaged at byte \(start + 9) (unknown type)"))
            #expect(line.hasSuffix("; 300 documents before it are good\n"))
        }
    }

    @Test func aMissingSourceIsNamed() async throws {
        try await withFolder { folder, schema in
            let missing = try await refusal("/no/such/dump", schema)
            #expect(missing == "shipshape: /no/such/dump: there is no such file or folder (check the path)\n")
            try folder.write("", to: "dump/other/person.bson")
            let dump = folder.path.appending("dump").string
            let other = try await refusal(dump, schema)
            #expect(
                other
                    == "shipshape: \(dump) holds no documents of any collection of the schema, such as app.person "
                    + "(it holds other.person)\n"
            )
        }
    }

    @Test func aFileThatIsNoDumpIsNamed() async throws {
        try await withFolder { folder, schema in
            let table = try folder.write("_id,name\n1,Ada\n", to: "person.csv")
            let line = try await refusal(table, schema)
            #expect(
                line
                    == "shipshape: \(table) is neither BSON nor extended JSON: give a mongodump folder, a .bson "
                    + "file, a mongodump archive, or a mongoexport file of JSON (not CSV), each plain or compressed "
                    + "with gzip\n")
            let damaged = try folder.write([0, 0, 0, 0, 1], to: "person.bson")
            let byte = try await refusal(damaged, schema)
            #expect(byte.contains("\(damaged) is damaged at byte 0 (invalid length); 0 documents before it are good"))
        }
    }

    @Test func aFileForSeveralCollectionsAsksForOne() async throws {
        try await withFolder { folder, _ in
            let file = try folder.write(Self.bytes(Self.people), to: "Person.bson")
            let run = try await Program.run(["check", "\(DemoApp.folder)/v1", "--source", file])
            #expect(run.exitCode == 65)
            #expect(
                run.errors == "shipshape: \(file) is one file, and the schema covers 4 collections: "
                    + "name its collection with --collection\n")
        }
    }

    @Test func aCollectionThatTheDumpLacksIsANote() async throws {
        try await withFolder { folder, _ in
            try folder.write("", to: "dump/app/Dog.bson")
            let run = try await Program.run(
                ["check", "\(DemoApp.folder)/v1", "--source", folder.path.appending("dump").string])
            #expect(run.exitCode == 0)
            #expect(run.output.contains("holds no documents of app.Person\n"))
            #expect(!run.output.contains("holds no documents of app.Dog\n"))
        }
    }
}
