import BSON
import Checking
import DumpWriter
import Planning
import SchemaChange
import ServerSchema
import SystemPackage

extension Bench {
    /// Measures operations whose time must not grow with the square of their input's size.
    ///
    /// Each benchmark runs at least at one size and at four times that size.
    mutating func measureGrowth() throws {
        guard isAsked("growth") || only?.hasPrefix("growth: ") == true else { return }
        for count in [2_500, 10_000] {
            try measureEnum(count)
            try measureSchemas(count)
            // The number of links is only a tenth of `count`, because the planner examines several steps for each link.
            try measureLinks(count / 10)
            try measureDocuments(count)
            try measureArchive(count)
        }
        // 100,000 properties take a minute, so they are measured only if the user asked for single benchmarks.
        if only != nil { try measureSchemas(100_000) }
    }

    private static let namespace = Namespace(database: "bench", collection: "Order")

    private static func schema(_ properties: some Sequence<String>, required: [String] = []) throws -> ServerSchema {
        let names = (["_id"] + required).map { "\"\($0)\"" }.joined(separator: ",")
        let id = "\"_id\": {\"bsonType\": \"objectId\"}"
        return try ServerSchema.read(
            text: "{\"title\": \"Order\", \"bsonType\": \"object\", \"required\": [\(names)], \"properties\": {"
                + ([id] + properties).joined(separator: ",") + "}}", namespace: namespace)
    }

    private static func texts(_ prefix: String, _ count: Int) -> [String] {
        (0..<count).map { "\"\(prefix)\($0)\": {\"bsonType\": \"string\"}" }
    }

    private mutating func measureEnum(_ count: Int) throws {
        let values = (0..<count).map { "\"value \($0)\"" }.joined(separator: ",")
        let text = "{\"$jsonSchema\": {\"properties\": {\"a\": {\"enum\": [\(values)]}}}}"
        try measure("growth: enum, \(count) values", bytes: text.utf8.count, items: count, of: "values") {
            let schema = try ServerSchema.read(text: text, namespace: Self.namespace)
            let compiled = CompiledSchema(schema.collections[0], of: schema)
            let document: BSONDocument = ["_id": 1, "a": "none of them"]
            for _ in 0..<count {
                let verdict = try compiled.check(document.view)
                precondition(verdict == .certain)
            }
        }
    }

    private mutating func measureSchemas(_ count: Int) throws {
        let old = try Self.schema(Self.texts("p", count))
        let required = (0..<count).map { "p\($0)" }
        let changes = [
            ("required", try Self.schema(Self.texts("p", count), required: required)),
            ("renamed", try Self.schema(Self.texts("q", count))),
        ]
        for (name, new) in changes { try measureChange("\(count) properties \(name)", count, from: old, to: new) }
    }

    /// Measures the diff and the plan for fields that change from links to lists of links.
    ///
    /// Half of the fields are in an embedded object.
    private mutating func measureLinks(_ count: Int) throws {
        func app(_ type: String, _ rest: String) throws -> ServerSchema {
            let field = "{\"bsonType\": \(type)}"
            let inner = (0..<count / 2).map { "\"i\($0)\": \(field)" }.joined(separator: ",")
            let object = "\"o\": {\"bsonType\": \"object\", \"title\": \"Inner\", \"properties\": {\(inner)}}"
            var schema = try Self.schema((0..<count / 2).map { "\"p\($0)\": \(field)" } + [object])
            let paths = (0..<count / 2).flatMap { [["p\($0)"], ["o", "i\($0)"]] }
            let target = Namespace(database: "bench", collection: "Person")
            schema.collections[0].relationships = paths.map { path in
                Relationship(
                    source: SchemaPath(path.map { .field($0) } + (rest.isEmpty ? [] : [.elements])), target: target,
                    location: SourceLocation(file: "links", line: 1, column: 1))
            }
            return schema
        }
        let new = try app("\"array\", \"items\": {\"bsonType\": \"string\"}", "[]")
        try measureChange("\(count) links", count, from: try app("\"objectId\"", ""), to: new)
    }

    private mutating func measureChange(
        _ name: String, _ count: Int, from old: ServerSchema, to new: ServerSchema
    ) throws {
        measure("growth: diff, \(name)", bytes: 0, items: count, of: "properties") {
            precondition(SchemaDiff.changes(from: old, to: new).count >= count)
        }
        try measure("growth: plan, \(name)", bytes: 0, items: count, of: "properties") {
            let planner = Planner(from: old, to: new)
            for job in try planner.plan().jobs { try planner.check(job) }
        }
    }

    private mutating func measureDocuments(_ count: Int) throws {
        let set = try Self.schema(["\"a\": {\"bsonType\": \"array\", \"uniqueItems\": true}"])
        let compiled = CompiledSchema(set.collections[0], of: set)
        // No double equals any of these decimals. If the hash of a number covered only an equal double, all these
        // decimals would have the same hash, and the time would grow with the square of their number.
        let decimals = (0..<count).compactMap { Decimal128("0.\($0)00000000000000000001") }.map {
            BSONValue.decimal($0)
        }
        let document: BSONDocument = ["_id": .objectID(ObjectID(high: 0, low: 0)), "a": .array(of: decimals)]
        try measure("growth: set, \(count) decimals", bytes: document.bytes.count, items: count, of: "elements") {
            let verdict = try compiled.check(document.view)
            precondition(verdict != .certain)
        }
        let names = (0..<count).map { "shared--\($0)--shared--" }
        let wide = try Self.schema(names.map { "\"\($0)\": {\"bsonType\": \"int\"}" })
        let schema = CompiledSchema(wide.collections[0], of: wide)
        // The fields are in reverse order, so that the checker finds each field at another position than it expects.
        let fields = BSONDocument(names.reversed().map { ($0, BSONValue.int(1)) })
        try measure("growth: names, \(count) alike at both ends", bytes: fields.bytes.count, items: count, of: "fields")
        {
            _ = try schema.check(fields.view)
        }
    }

    private mutating func measureArchive(_ count: Int) throws {
        let collections = (0..<count).map { (Namespace(database: "bench", collection: "c\($0)"), [BSONDocument()]) }
        let bytes = ArchiveWriter.interleaved(collections)
        let folder = try TemporaryFolder()
        let path = folder.path.appending("A.bson")
        let file = try FileDescriptor.open(
            path, .writeOnly, options: [.create, .truncate], permissions: .ownerReadWrite)
        _ = try file.closeAfter { try file.writeAll(bytes) }
        try measure("growth: archive, \(count) collections", bytes: bytes.count, items: count, of: "collections") {
            var reader = try ArchiveReader(DumpInput(path), wanted: [])
            while try reader.next() != nil {}
            precondition(reader.namespaces.count == count)
        }
    }
}
