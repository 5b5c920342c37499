import BSON
import DemoData
import Foundation
import Mongo
import ServerSchema
import SystemPackage
import TestSupport
import Testing

/// Tests that a check of a copy in files finds the same as a check of the live collections, for each format of the
/// copy.
@Suite struct CheckSourceTests {
    private static let collections = DemoData.collections(documents: 2_000)

    /// Runs a test with a small copy of the demo on the server.
    ///
    /// `body` receives the documents of the copy as the driver reads them from the server.
    private func withDemo(
        _ body: (Mongod, CommandLineFolder, TestDatabase, [(Namespace, [BSONDocument])]) async throws -> Void
    ) async throws {
        let mongod = try await Mongod.shared
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try await mongod.withDatabase { database in
            var copies: [(Namespace, [BSONDocument])] = []
            for collection in Self.collections {
                let name = collection.namespace.collection
                try await database.fill(name, (0..<collection.count).map(collection.document))
                copies.append((database.namespace(name), try await database.documents(name)))
            }
            try writeApp(to: folder, for: database)
            try await body(mongod, folder, database, copies)
        }
    }

    /// Writes the schemas of the demo app, with the name of the test's database in place of `app`.
    private func writeApp(to folder: CommandLineFolder, for database: TestDatabase) throws {
        let app = DemoApp.folder.appending("v2").string
        for file in FileManager.default.enumerator(atPath: app)?.compactMap({ $0 as? String }) ?? [] {
            guard let data = FileManager.default.contents(atPath: "\(app)/\(file)"), file.hasSuffix(".json") else {
                continue
            }
            let text = String(decoding: data, as: UTF8.self).replacing(#""app""#, with: "\"\(database.name)\"")
            let place = file.replacing("/app/", with: "/\(database.name)/")
            try folder.write(text, to: "v2/\(place)")
        }
    }

    private func check(_ folder: CommandLineFolder, _ more: [String]) async throws -> ProgramRun {
        try await Program.run(["check", folder.path.appending("v2").string, "-o", "json"] + more)
    }

    /// Returns the collections of a JSON report without the values that only a check of a live deployment has.
    private func findings(_ run: ProgramRun) throws -> [String] {
        #expect(run.exitCode == 1)
        // On a busy machine, a check takes long enough to show its progress.
        #expect(run.errors.split(separator: "\n").allSatisfy { $0.hasPrefix("check: ") }, "\(run.errors)")
        let report = try BSONDocument(extendedJSON: run.output)
        return try (report["collections"]?.document?.values ?? []).map { collection in
            var result = BSONBuilder()
            for (name, value) in try #require(collection.document).elements()
            where !["documents_estimated", "reading"].contains(name) {
                result.append(name, value)
            }
            return try result.finish().extendedJSON()
        }
    }

    @Test func everyFormFindsWhatTheLiveCheckFinds() async throws {
        try await withDemo { mongod, folder, _, copies in
            let live = try findings(
                try await check(folder, ["--uri", mongod.uri, "SHIPSHAPE_LEDGER=none", "SHIPSHAPE_THREADS=1"]))
            #expect(live.count == 4 && live.allSatisfy { $0.contains("documents_read") })
            for form in SourceForm.allCases where form.keepsTypes {
                let source = try form.write(copies, to: folder)
                let found = try findings(try await check(folder, ["--source", source]))
                #expect(found == live, "\(form)")
            }
        }
    }

    @Test func theRelaxedFormMarksWhatItDoesNotDistinguish() async throws {
        try await withDemo { _, folder, _, copies in
            let source = try SourceForm.relaxedLines.write(copies, to: folder)
            let run = try await check(folder, ["--source", source])
            #expect(run.exitCode == 1)
            #expect(run.output.contains("does not distinguish int from long"))
        }
    }

    @Test(arguments: ["cat", "gzip -c"]) func standardInputIsReadOnce(_ program: String) async throws {
        try await withDemo { _, folder, _, copies in
            let app = folder.path.appending("v2").string
            let archive = try SourceForm.archive.write(copies, to: folder)
            let file = try await check(folder, ["--source", archive])
            let piped = try await Program.shell(
                #"\#(program) <"$1" | "$0" check "$2" -o json --source -"#, [archive, app])
            #expect(try findings(piped) == findings(file))
            #expect(piped.output.contains(#""standard input""#))
            let (namespace, documents) = copies[0]
            let lines = try folder.write(
                documents.map { try $0.extendedJSON() + "\n" }.joined(), to: "person.jsonl")
            for source in [lines, try folder.write(documents.flatMap(\.bytes), to: "person.bson")] {
                let one = try await Program.shell(
                    #"\#(program) <"$1" | "$0" check "$2" --collection "$3" -o json --source -"#,
                    [source, app, namespace.description])
                #expect(
                    try findings(one) == [
                        try #require(try findings(file).first { $0.contains("\"\(namespace.collection)\"") })
                    ])
            }
        }
    }

    @Test(arguments: [SIGINT, SIGTERM]) func aSignalEndsTheWaitForAPipe(_ signal: Int32) async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let schema = try folder.write(CommandLineFolder.person, to: "person.json")
        let documents: [BSONDocument] = (0..<20_000).map { ["_id": .integer($0), "name": "Ada"] }
        let file = try folder.write(documents.flatMap(\.bytes), to: "person.bson")
        // The shell itself holds the pipe open, so the program waits for more bytes. The shell writes more than fits
        // into a pipe, so it sends the signal only after the program has begun to read.
        let script = #"""
            mkfifo "$2"; exec 3<>"$2"
            "$0" check "$1" --collection app.person --source - <"$2" & program=$!
            cat "$4" >&3
            kill -$3 $program; wait $program
            """#
        let pipe = folder.path.appending("pipe").string
        let run = try await Program.shell(script, [schema, pipe, "\(signal)", file])
        #expect(run.exitCode == 75)
        #expect(run.errors == "shipshape: stopped by a signal; nothing was written, so the next run starts over\n")
    }
}
