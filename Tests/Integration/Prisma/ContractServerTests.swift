import BSON
import Checking
import Mongo
import ServerSchema
import TestSupport
import Testing

/// Tests contracts of Prisma 8 against a server that has the validators applied.
@Suite struct ContractServerTests {
    @Test(arguments: ContractDocuments.contracts.keys.sorted())
    func theVerdictOnEveryDocumentIsThatOfTheServer(_ name: String) async throws {
        try await Mongod.shared.withDatabase { database in
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let path = try folder.write(try #require(ContractDocuments.contracts[name]), to: "contract.prisma")
            let schema = try ServerSchema.read(at: path, database: database.name)
            for collection in schema.collections {
                let root = collection.root
                var documents = ContractDocuments(seed: 51)
                let made = (0..<5_000).map { documents.document(root, number: $0) }
                let stored = try await database.stored(
                    made, in: collection.namespace.collection, validator: root.jsonSchema)
                let compiled = CompiledSchema(collection, of: schema)
                var failing = 0
                for document in made {
                    let id = try #require(document["_id"])
                    let violations = try compiled.violations(in: document.view, includingInfo: false)
                    #expect(try compiled.check(document.view) == (stored.contains(id) ? .fits : .certain))
                    #expect(violations.isEmpty == stored.contains(id))
                    guard !stored.contains(id) else { continue }
                    failing += 1
                    // Each failing document has a reason inside `oneOf`, with a path and a type.
                    #expect(!violations.contains { [.oneOf, .anyOf].contains($0.rule.rule) }, "\(violations)")
                }
                #expect((1_000...4_500).contains(failing), "\(collection.namespace): \(failing)")
            }
        }
    }

    /// In a check of a contract with a schema of Prisma 6 as the active one, the documents that only version 6 reads
    /// are newly failing, and those that neither version takes were failing already.
    @Test func documentsThatVersionSixReadsAreNewlyFailing() async throws {
        try await Mongod.shared.withDatabase { database in
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let source = "datasource db {\n  provider = \"mongodb\"\n  url = \"mongodb://127.0.0.1/shop\"\n}\n"
            let six = "model Order {\n  id String @id @map(\"_id\") @db.ObjectId\n"
            let eight = "// use prisma-next\nmodel Order {\n  id ObjectId @id @map(\"_id\")\n"
            let rest = "  number Int\n  @@map(\"orders\")\n}\n"
            try folder.write(source + six + rest, to: "schema.prisma")
            try folder.write(eight + rest, to: "contract.prisma")
            let numbers: [BSONValue] = [.int(1), .long(2), .long(3), .string("4")]
            try await database.fill("orders", count: numbers.count) {
                ["_id": .objectID(ObjectID(high: 7, low: UInt32($0))), "number": numbers[$0]]
            }
            let run = try await Program.run(
                [
                    "check", "contract.prisma", "--active", "schema.prisma", "--uri", try await Mongod.shared.uri,
                    "SHIPSHAPE_DATABASE=\(database.name)", "--output", "json",
                ], in: folder.path)
            #expect(run.exitCode == 1, "\(run.errors)")
            let report = try BSONDocument(extendedJSON: run.output)
            let changes = report["collections"]?.document?.values.first?.document?["changes"]?.document
            #expect(changes?["newly_failing"]?.integer == 2, "\(run.output)")
            #expect(changes?["already_failing"]?.integer == 1, "\(run.output)")
        }
    }

    @Test func theServerTakesWhatTheClientsWriteByTheValidatorsOfWrites() async throws {
        try await Mongod.shared.withDatabase { database in
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            for (name, text) in ["contract.prisma": ContractDocuments.every, "six.prisma": ContractDocuments.six] {
                let path = try folder.write(text, to: name)
                let collection = name == "six.prisma" ? "SixThings" : "things"
                for form in ["closed", "open"] {
                    let run = try await Program.run([
                        "schema", "import", path, "--schema", collection, "--writes", form, "--out", "-", "--quiet",
                    ])
                    #expect(run.exitCode == 0, "\(run.errors)")
                    let validator = try BSONDocument(extendedJSON: run.output)
                    guard case .object(let schema)? = validator["$jsonSchema"] else {
                        throw TestSupportError(run.output)
                    }
                    let written = name == "six.prisma" ? ContractDocuments.ofSix : ContractDocuments.ofEvery
                    let further = written.enumerated().map { index, document -> BSONDocument in
                        let members = ((try? document.elements()) ?? []).filter { $0.name != "_id" }
                        let id = BSONValue.objectID(ObjectID(high: 7, low: UInt32(index)))
                        return BSONDocument([("_id", id)] + members.map { ($0.name, $0.value) } + [("further", 1)])
                    }
                    let stored = try await database.stored(
                        written + further, in: "\(collection)_\(form)", validator: schema)
                    #expect(stored.isSuperset(of: written.compactMap { $0["_id"] }), "\(name) \(form)")
                    #expect(stored.count == written.count + (form == "open" ? further.count : 0), "\(name) \(form)")
                }
            }
        }
    }
}

extension TestDatabase {
    /// Creates a collection with a validator, and returns the `_id`s of the documents that the server stores there.
    func stored(
        _ documents: [BSONDocument], in name: String, validator: BSONDocument
    ) async throws -> Set<BSONValue> {
        let database = self.name
        _ = try await pool.withClient { client throws(MongoError) in
            try client.runCommand(
                [
                    "create": .string(name), "validator": ["$jsonSchema": .object(validator)],
                    "validationAction": "error",
                ],
                on: database)
        }
        for start in stride(from: 0, to: documents.count, by: 250) {
            let part = documents[start..<min(start + 250, documents.count)].map { BSONValue.object($0) }
            try await pool.withClient { client throws(MongoError) in
                do throws(MongoError) {
                    _ = try client.runCommand(
                        ["insert": .string(name), "documents": .array(of: part), "ordered": false], on: database)
                } catch {
                    // The server refused some of the documents; the query below shows which it stored.
                    guard error.domain == .server else { throw error }
                }
            }
        }
        return try await ids([:], in: name)
    }
}
