import BSON
import Checking
import DumpWriter
import Files
import Foundation
import Importing
import Jobs
import LocatedYAML
import Mongo
import Patterns
import SchemaChange
import ServerSchema

@testable import Check
@testable import Planning
@testable import Scanning
@testable import ShipshapeCLI
@testable import Steps

extension FuzzKind {
    private static let namespace = Namespace(database: "app", collection: "person")
    private static let small = """
        {"title": "P", "bsonType": "object", "required": ["_id", "name"], "properties": {"_id": {"bsonType": \
        "objectId"},
         "name": {"bsonType": "string"}, "tags": {"bsonType": "array", "items": {"bsonType": "int"}, "uniqueItems": \
        true}}}
        """

    /// Returns the kinds of files and flag values whose readers are tested.
    static func all(in folder: FuzzFolder) throws -> [FuzzKind] {
        let base = try ServerSchema.read(text: small, namespace: namespace)
        return schemas(base) + [try prisma()] + folders(folder) + jobs(base) + dumps(folder) + (try values(base))
            + flags(base) + settings(folder)
    }

    private static func schemas(_ base: ServerSchema) -> [FuzzKind] {
        let parsed: @Sendable ([UInt8]) throws -> ServerSchema = { bytes in
            try ServerSchema.read(text: String(decoding: bytes, as: UTF8.self), namespace: namespace)
        }
        let read: @Sendable ([UInt8]) throws -> Void = { bytes in try use(try parsed(bytes), base) }
        let parse: @Sendable ([UInt8]) throws -> Void = { bytes in compile(try parsed(bytes)) }
        return [
            FuzzKind("schema", Corpus.schemas, read, parse: parse),
            FuzzKind("validator", Corpus.validators, read, parse: parse),
            FuzzKind("schema and documents", Corpus.judgements, judge),
            FuzzKind("JSON Schema", Corpus.jsonSchemas) { bytes in
                let text = String(decoding: bytes, as: UTF8.self)
                _ = try ImportedSchema(text: text, named: bytes.first == UInt8(ascii: "{") ? "s.json" : "s.yml")
            },
        ]
    }

    /// Returns the kind whose inputs are Prisma schemas; each input is compared with the first Prisma schema of the
    /// corpus.
    private static func prisma() throws -> FuzzKind {
        let read: @Sendable ([UInt8]) throws -> ServerSchema = { bytes in
            let file = SchemaSource(path: "schema.prisma", text: String(decoding: bytes, as: UTF8.self))
            return try PrismaSchema(files: [file]).serverSchema(database: "app")
        }
        let base = try read(Corpus.prisma[0])
        return FuzzKind("prisma", Corpus.prisma, { bytes in try use(try read(bytes), base) }) { bytes in
            compile(try read(bytes))
        }
    }

    /// Reads the schema before the first zero byte, and checks the documents after that byte.
    private static func judge(_ bytes: [UInt8]) throws {
        let parts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
        let schema = try ServerSchema.read(text: String(decoding: parts[0], as: UTF8.self), namespace: namespace)
        var tally = Tally(CompiledSchema(schema.collections[0], of: schema))
        var rest = (parts.count == 2 ? parts[1] : [])[...]
        while rest.count >= 5 {
            let length = max(5, rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) })
            let document = try BSONDocument(bytes: Array(rest.prefix(length)))
            try tally.add(document.view)
            rest = rest.dropFirst(length)
        }
        _ = tally.counts
    }

    /// Lints a schema, and compiles it.
    private static func compile(_ schema: ServerSchema) {
        _ = SchemaLint.findings(in: schema)
        for collection in schema.collections {
            _ = CompiledSchema(collection, of: schema)
            _ = collection.root.jsonSchema
        }
    }

    /// Uses a schema as the program does: lints it, checks documents by it, and plans jobs between it and another
    /// schema.
    private static func use(_ schema: ServerSchema, _ base: ServerSchema) throws {
        compile(schema)
        for collection in schema.collections {
            var tally = Tally(CompiledSchema(collection, of: schema))
            for document in Corpus.documents.prefix(8) { _ = try? tally.add(document.view) }
            _ = tally.counts
        }
        guard schema.dialect == base.dialect else { return }
        for (old, new) in [(base, schema), (schema, base)] {
            let planner = Planner(from: old, to: new)
            for job in try planner.plan().jobs { try planner.check(job) }
        }
    }

    /// Returns one kind of input for each layout of a folder of schemas, such as an older export of an app.
    ///
    /// The input replaces one of the files in the folder.
    private static func folders(_ folder: FuzzFolder) -> [FuzzKind] {
        func app(_ name: String, _ fixture: String) -> FuzzKind {
            let home = Corpus.root.appendingPathComponent("Tests/ServerSchemaTests/Fixtures/\(fixture)")
            let names = (FileManager.default.enumerator(atPath: home.path)?.compactMap { $0 as? String } ?? []).sorted()
            let files = names.compactMap { name -> (String, [UInt8])? in
                guard let data = try? Data(contentsOf: home.appendingPathComponent(name)) else { return nil }
                return (name, Array(data))
            }
            // The first byte of an input chooses the file, and the other bytes replace the content of the file.
            return FuzzKind(name, files.enumerated().map { [UInt8($0)] + $1.1 }) { bytes in
                guard let index = bytes.first else { return }
                var changed = files
                changed[Int(index) % files.count].1 = Array(bytes.dropFirst())
                try folder.with(changed.map { (name: $0.0, bytes: $0.1) }) { path in
                    _ = SchemaLint.findings(in: try ServerSchema.readForLint(at: path))
                    _ = try ServerSchema.read(at: path, namespace: namespace)
                }
            }
        }
        return [
            app("app, newest", "tracker-app"), app("app, older", "older-app"), app("app, stitch", "stitch-app"),
            app("folder, flat", "flat"), app("folder, nested", "nested"),
            FuzzKind("contract", Corpus.contracts) { bytes in
                try folder.with([(name: "contract.prisma", bytes: bytes)]) { path in
                    let schema = try ServerSchema.readForLint(at: path, database: "app")
                    try use(schema.described, schema)
                }
            },
        ]
    }

    private static func jobs(_ base: ServerSchema) -> [FuzzKind] {
        let expressions = [
            "{$cond: [{$gt: [$a, 1]}, {$toString: $a}, {$literal: {b: [1]}}]}",
            "{$let: {vars: {x: $a.b}, in: {$concat: [$$x, c]}}}",
            "{$dateAdd: {startDate: $$NOW, unit: day, amount: {$numberLong: \"1\"}}}",
            "{$map: {input: $l, in: $$this.a}}",
        ]
        return [
            FuzzKind("job", Corpus.jobs) { bytes in
                let job = try JobFile.parse(String(decoding: bytes, as: UTF8.self), path: "j.yml")
                for schema in [nil, base] {
                    _ = try CompiledJob(job, active: schema, next: schema).notes(keepsJournal: true)
                }
            },
            FuzzKind("expression", texts: expressions) { text in
                let lines = text.split(separator: "\n", omittingEmptySubsequences: false).joined(
                    separator: "\n          ")
                let job = try JobFile.parse(
                    "job: a\ncollection: b.c\nsteps:\n  - expression:\n      field: a\n      value:\n          "
                        + "\(lines)\n",
                    path: "j")
                try CompiledJob(job, active: nil, next: nil).checkServer(wireVersion: 17)
            },
            FuzzKind(
                "limits",
                texts: ["1000", "16MiB", "500ms", "10%", "Mon-Fri 08:00-20:00 Europe/Madrid", "{dirty: 5%, used: 90%}"]
            ) {
                text in
                let job = try JobFile.parse("job: a\ncollection: b.c\nsteps: [copy: {from: d, to: e}]", path: "j")
                for name in [
                    "chunk.documents", "chunk.time", "chunk.bytes", "unsynced", "reserve", "nice", "lag", "pause",
                    "cache",
                ] {
                    _ = try? job.limits(overriddenBy: [LimitOverride(name: name, value: text)]).ceiling
                }
                _ = try job.limits(overriddenBy: [LimitOverride(name: "pause", value: text)])
            },
            FuzzKind(
                "ids",
                texts: [
                    "{\"$oid\": \"507f1f77bcf86cd799439011\"}\n1\n\"a\"\n{\"_id\": {\"a\": 1}}\n",
                    "{\"record\":\"failure\",\"database\":\"app\",\"collection\":\"person\",\"_id\":1}\n"
                        + "{\"record\":\"result\"}",
                ]
            ) { text in _ = try IDList.parse(text, path: "ids", for: namespace) },
            FuzzKind(
                "exceptions",
                texts: [
                    "- collection: app.person\n  path: name\n  rule: required-missing\n  reason: \"no\"\n  owner: "
                        + "ada\n  expires: 2027-01-31\n"
                ]
            ) { text in
                _ = try ExceptionsFile.parse(
                    text, path: "e.yml", for: base.collections.map { CompiledSchema($0, of: base) })
            },
        ]
    }

    private static func dumps(_ folder: FuzzFolder) -> [FuzzKind] {
        let bson = Corpus.documents.flatMap(\.bytes)
        let archive = ArchiveWriter.interleaved(
            [(namespace, Corpus.documents), (Namespace(database: "app", collection: "dog"), [["_id": 1]])], block: 3)
        let json = Corpus.documents.compactMap { try? $0.extendedJSON() }
        let list = "[\(json.prefix(9).joined(separator: ","))]"
        let metadata =
            #"{"options":{"validator":{"a":1}},"indexes":[],"uuid":"0f","collectionName":"person","type":"collection"}"#
        func source(_ name: String, _ seeds: [[UInt8]], threads: Int = 1) -> FuzzKind {
            FuzzKind(name, seeds) { bytes in
                var options = ScanOptions()
                options.threads = threads
                let path = try folder.file(bytes, "source")
                _ = try SourceReader([namespace], source: path, options: options).read { _, view in try view.validate()
                }
                _ = try SourceReader([], source: path, options: options).held()
            }
        }
        return [
            source("bson file", [bson, Array(bson.prefix(900))]), source("bson file, read ahead", [bson], threads: 2),
            source("archive", [archive]),
            source("export", [Array(json.joined(separator: "\n").utf8), Array(list.utf8)]),
            source("gzip", [gzip(bson), gzip(archive), gzip(Array(list.utf8))]),
            FuzzKind("gzip of what is changed", [archive, bson]) { bytes in
                let path = try folder.file(gzip(bytes), "source.gz")
                _ = try SourceReader([namespace], source: path, options: ScanOptions()).read { _, view in
                    try view.validate()
                }
            },
            FuzzKind("dump folder", [Array(metadata.utf8), gzip(Array(metadata.utf8))]) { bytes in
                let files = [
                    ("app/person.bson", bson), ("app/person.metadata.json", bytes), ("app/dog.metadata.json.gz", bytes),
                ]
                try folder.with(files.map { (name: $0.0, bytes: $0.1) }) { path in
                    _ = try SourceReader([namespace], source: path, options: ScanOptions()).read { _, _ in }
                }
            },
        ]
    }

    private static func values(_ base: ServerSchema) throws -> [FuzzKind] {
        let schemas = try [Corpus.validators[0], Array(small.utf8)].map { bytes in
            let schema = try ServerSchema.read(text: String(decoding: bytes, as: UTF8.self), namespace: namespace)
            return CompiledSchema(schema.collections[0], of: schema)
        }
        let ledger: BSONDocument = ["_id": 1, "ns": "app.person", "documentId": 7, "appId": "x", "reason": "no"]
        return [
            FuzzKind("document", Corpus.documents.map(\.bytes)) { bytes in
                let document = try BSONDocument(bytes: bytes)
                for schema in schemas {
                    var tally = Tally(schema)
                    try tally.add(document.view)
                    _ = tally.counts
                }
                try document.view.validate()
                _ = try document.extendedJSON()
                _ = try BSONValue.object(document).isEqualIgnoringFieldOrder(.object(document))
                _ = BSONOrder.precedes(.object(document), .object(Corpus.documents[0]))
            },
            FuzzKind("ledger entry", [ledger.bytes]) { bytes in
                var index = LedgerIndex()
                let entry = try BSONDocument(bytes: bytes)
                _ = try index.insert(entry: entry.view)
            },
            FuzzKind("extended JSON", texts: Corpus.documents.prefix(12).compactMap { try? $0.extendedJSON() }) {
                text in
                _ = try? BSONValue(extendedJSON: text).extendedJSON(.relaxed)
                _ = try BSONDocument(extendedJSON: text).extendedJSON()
            },
            FuzzKind(
                "pattern", texts: ["^[a-z]+@(x|y)*$", "(?<n>a{2,5})\\k<n>", "[[:alpha:]-_]\\i", "^((a)|(b)|(ab))*$"]
            ) { text in
                for mode in [Pattern.Mode.characters, .bytes] {
                    guard let pattern = try? Pattern(text, mode: mode) else { continue }
                    for subject in [text, String(repeating: "ab", count: 2_000)] { _ = try? pattern.matches(subject) }
                }
            },
        ]
    }

    /// Returns the kinds of the program's own files of settings.
    private static func settings(_ folder: FuzzFolder) -> [FuzzKind] {
        [
            FuzzKind("columns", texts: ["person:\n  name: text\n  age: integer\ndog: {weight: real}\n"]) { text in
                _ = try ColumnsFile.parse(text, path: "c.yml")
            },
            FuzzKind("ObjectBox model", [Array(model.utf8)]) {
                bytes in
                _ = try ObjectBoxModel.parse(String(decoding: bytes, as: UTF8.self), path: "m.json").synced
            },
            FuzzKind(
                "shipshape.yml",
                [
                    """
                    schema: prisma/schema.prisma
                    database: app
                    thresholds: [{collection: app.person, documents: 5}]
                    renames: [app.person.name=title]
                    environments:
                      production: {protected: true, database: app, uri: ${SHOP_URI}}
                    """
                ].map { Array($0.utf8) }
            ) { bytes in
                _ = try ConfigurationFile.read(at: try folder.file(bytes, "shipshape.yml"), variables: [:])
            },
        ]
    }

    private static let model = """
        {"entities": [{"id": "1:1", "name": "Person", "flags": 2, "properties": [{"id": "1:2", "name": "id", \
        "type": 6, "flags": 1}, {"id": "2:3", "name": "name", "type": 9}], "relations": []}]}
        """

    private static func flags(_ base: ServerSchema) -> [FuzzKind] {
        [
            FuzzKind("configuration", texts: ["renames:\n  - app.person.name=title\n  - P=Q\n"]) { text in
                guard let root = try YAMLFile.rootIfAny(of: text, path: "c.yml") else { return }
                let members = try root.members(of: "the configuration", allowed: ["renames"])
                let renames = try (members["renames"]?.elements(of: "renames") ?? []).map { entry in
                    try Rename(try entry.text(of: "a rename"), at: entry.location)
                }
                _ = try SchemaDiff.changes(from: base, to: base, renames: renames)
            },
            FuzzKind("rename", texts: ["app.person.name=title", "P.tags=labels", "P=Q", "app.person=app.people"]) {
                text in
                _ = try SchemaDiff.changes(from: base, to: base, renames: [try Rename(text)])
            },
            FuzzKind("step of a plan", texts: ["P.name,tags=label", "app.person.name=a,b", "P.name"]) { text in
                var options = PlanOptions()
                options.steps = [.combine, .split, .embed].compactMap { StatedStep($0, text) }
                _ = try Planner(from: base, to: base, options: options).plan()
            },
            FuzzKind("default", texts: ["P.name=\"x\"", "app.person.tags=[1]", "P.name={\"$date\": 0}"]) { text in
                guard let stated = StatedDefault(text) else { return }
                var options = PlanOptions()
                options.defaults = [stated]
                for job in try Planner(from: base, to: base, options: options).plan().jobs {
                    _ = try JobFile.parse(job.bareText, path: "p")
                }
            },
            FuzzKind(
                "connection string",
                texts: ["mongodb://ada:pw@a:1,b:2/db?tls=true&w=majority", "mongodb://%2Ftmp%2Fs.sock"]
            ) { text in
                // A text with the scheme `mongodb+srv` is skipped, because it would cause a DNS query.
                guard !text.contains("+srv") else { return }
                let uri = try MongoURI.parse(text)
                _ = uri.redacted
            },
            FuzzKind(
                "git revision and paths", texts: ["HEAD~1:schemas", "a.b.[].c", "app.person", "HEAD^{/fix: x}:./y"]
            ) { text in
                _ = GitRevision(text)
                _ = Namespace(text)
                _ = try? FieldPath(text)
                _ = DumpFiles.decoded(text)
            },
        ]
    }
}
