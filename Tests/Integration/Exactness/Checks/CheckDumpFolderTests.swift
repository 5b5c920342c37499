import BSON
import DumpWriter
import Glibc
import SystemPackage
import TestSupport
import Testing

/// Tests that a check understands the files that mongodump writes next to a collection's documents, or reports them as
/// ignored.
@Suite struct CheckDumpFolderTests {
    private static let good = BSONDocument([("_id", 1), ("name", "Ada")]).bytes

    /// Writes files into a folder, and checks the folder as a dump of one collection.
    ///
    /// - Parameter pipe: the path of a pipe to create in the folder as well; `nil` for none.
    /// - Returns: the exit code, and the text of standard output and error.
    private func check(
        _ files: [String: [UInt8]], as collection: String = "app.person", source: String = "dump", pipe: String? = nil
    ) async throws -> (status: Int32?, text: String) {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        for (name, bytes) in files { try folder.write(bytes, to: name) }
        if let pipe { #expect(unsafe mkfifo(folder.path.appending(pipe).string, 0o600) == 0) }
        let schema = try folder.write(CommandLineFolder.person, to: "person.json")
        let run = try await Program.run(
            ["check", schema, "--collection", collection, "--source", folder.path.appending(source).string])
        return (run.exitCode, (run.output + run.errors).replacing(folder.path.string + "/", with: ""))
    }

    private func metadata(_ name: String, _ options: String = "{}", _ type: String = "collection") -> [UInt8] {
        Array(#"{"options":\#(options),"indexes":[],"uuid":"0f","collectionName":"\#(name)","type":"\#(type)"}"#.utf8)
    }

    @Test(arguments: [
        ("per/son", "per%2Fson"), ("a%b", "a%25b"), ("per son", "per%20son"), ("größe", "gr%C3%B6%C3%9Fe"),
        ("größe", "größe"), ("100%", "100%"), ("a.b.c", "a.b.c"), ("a$b:c", "a$b:c"),
    ]) func namesAreDecoded(_ name: String, _ file: String) async throws {
        let run = try await check(["dump/app/\(file).bson": Self.good], as: "app.\(name)")
        #expect(run.status == 0)
        #expect(run.text.contains("app.\(name): 1 document read"))
    }

    @Test func aNameThatWasCutIsInTheMetadata() async throws {
        let name = String(repeating: "long", count: 60)
        let stem = String(name.prefix(208)) + "%24" + String(repeating: "x", count: 27)
        let other = String(name.prefix(208)) + "%24" + String(repeating: "y", count: 27)
        let run = try await check(
            [
                "dump/app/\(stem).bson.gz": gzip(Self.good), "dump/app/\(stem).metadata.json.gz": gzip(metadata(name)),
                "dump/app/\(other).bson": [], "dump/app/\(other).metadata.json": metadata(name + "y"),
            ], as: "app.\(name)")
        #expect(run.status == 0)
        #expect(run.text.contains(": 1 document read"))
    }

    /// The size of a metadata file in a dump is limited, because a few kilobytes of gzip can expand to any size.
    @Test func metadataThatAreTooLargeAreRefused() async throws {
        let run = try await check([
            "dump/app/person.bson": Self.good,
            "dump/app/person.metadata.json.gz": gzip(Array(repeating: 0x20, count: 17 << 20)),
        ])
        #expect(run.status == 65)
        #expect(run.text.contains("person.metadata.json.gz is too large"), "\(run.text)")
    }

    @Test(arguments: [
        (#"{"viewOn":"person","pipeline":[]}"#, "view", "is a view in dump, and a dump holds no documents of a view"),
        (
            #"{"timeseries":{"timeField":"t"}}"#, "timeseries",
            "is a time series in dump, and a dump holds only the buckets of a time series"
        ),
    ]) func viewsAndTimeSeriesAreNamed(_ options: String, _ type: String, _ text: String) async throws {
        for kind in [type, "collection"] {
            let files = ["dump/app/person.metadata.json": metadata("person", options, kind)]
            let run = try await check(files)
            #expect(run.status == 65)
            #expect(run.text == "shipshape: there is nothing to check: app.person \(text)\n")
        }
    }

    /// A check of a dump does not open pipes, because opening a pipe blocks until a process opens it for writing.
    @Test func aPipeIsNoFileOfADump() async throws {
        let run = try await check(["dump/app/dog.bson": Self.good], pipe: "dump/app/person.bson")
        #expect(run.status == 65)
        #expect(run.text.contains("person"), "\(run.text)")
    }

    @Test func theOplogIsPassedOver() async throws {
        let run = try await check(["dump/oplog.bson": Self.good, "dump/app/person.bson": Self.good])
        #expect(run.status == 0)
        #expect(run.text.contains("Note: dump/oplog.bson was not read: writes made during the dump"))
    }

    @Test func theFoldersOfTheServerAreNot() async throws {
        let run = try await check(["dump/admin/system.version.bson": Self.good, "dump/config/person.bson": Self.good])
        #expect(run.status == 65)
        #expect(run.text == "shipshape: dump holds no documents of any collection of the schema, such as app.person\n")
    }

    @Test func aFolderOfAnotherNameIsSaid() async throws {
        let run = try await check(["dump/other/person.bson": Self.good], source: "dump/other")
        #expect(run.status == 0)
        #expect(run.text.contains("Note: dump/other was read as the database app\n"))
        let same = try await check(["dump/app/person.bson": Self.good], source: "dump/app")
        #expect(same.status == 0 && !same.text.contains("was read as"))
    }

    @Test func documentsThatAreThereTwiceAreRefused() async throws {
        let run = try await check(["dump/app/person.bson": Self.good, "dump/app/person.bson.gz": gzip(Self.good)])
        #expect(run.status == 65)
        #expect(
            run.text == "shipshape: dump/app holds the documents of app.person more than once: "
                + "dump/app/person.bson, dump/app/person.bson.gz (remove all but one)\n")
    }

    @Test func anArchiveGivesTheSameResult() async throws {
        let (person, view) = (Namespace(database: "app", collection: "person"), Namespace("app.adults"))
        let oplog = Namespace(database: "", collection: "oplog")
        var writer = ArchiveWriter([person, try #require(view), oplog], types: [try #require(view): "view"])
        writer.write([BSONDocument([("_id", 1), ("name", "Ada")])], of: person)
        for namespace in [person, oplog] { writer.close(namespace) }
        let run = try await check(["a": writer.bytes], source: "a")
        #expect(run.status == 0)
        #expect(run.text.contains("Note: the oplog of a was not read"))
        let adults = try await check(["a": writer.bytes], as: "app.adults", source: "a")
        #expect(adults.status == 65)
        #expect(adults.text.contains("app.adults is a view in a, and a dump holds no documents of a view"))
        let other = try await check(["a": writer.bytes], as: "app.other", source: "a")
        #expect(other.status == 65)
        #expect(
            other.text == "shipshape: a holds no documents of any collection of the schema, such as app.other "
                + "(it holds app.person)\n")
    }

    @Test func nothingOnStandardInputIsNoSuccess() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let schema = try folder.write(CommandLineFolder.person, to: "person.json")
        let run = try await Program.run(["check", schema, "--collection", "app.person", "--source", "-"])
        #expect(run.exitCode == 65)
        #expect(run.errors.hasPrefix("shipshape: standard input is empty: there is nothing to check"))
    }
}
