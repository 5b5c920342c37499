import BSON
import TestSupport

/// A Prisma client with one attribute beside the `_id`, as far as Prisma's documentation says how it reads and writes.
///
/// The client is written from Prisma's rules alone: it shares no code with the program.
struct PrismaClient: Sendable, Hashable {
    /// A field of the client's schema.
    struct Field: Sendable, Hashable {
        let name: String
        var kind = Kind.number
        var isRequired = true
        /// The constant `@default`, which the client reads where the field is missing or null.
        var constant: Int?

        enum Kind: Sendable, Hashable {
            case number, text
            /// An enum with the values `V1`, `V2` and so on.
            case choice(Int)
        }

        func stored(_ value: Int) -> BSONValue {
            switch kind {
            case .number: .long(Int64(value))
            case .text: .string("\(value)")
            case .choice: .string("V\(value)")
            }
        }

        /// Returns the value that the client reads; a failed read throws the code of Prisma's error.
        func read(_ document: BSONDocument) throws(PrismaError) -> Int? {
            switch (document[name], kind) {
            case (nil, _), (.null?, _):
                guard isRequired, constant == nil else { return constant }
                throw PrismaError(code: "P2032")
            case (.int(let value)?, .number): return Int(value)
            case (.long(let value)?, .number): return Int(value)
            case (.string(let text)?, .text): return Int(text)
            case (.string(let text)?, .choice(let count)):
                guard let value = Int(text.dropFirst()), value <= count else { throw PrismaError(code: "not in enum") }
                return value
            default: throw PrismaError(code: "P2023")
            }
        }
    }

    /// The name of the client's version: `old`, `new`, or one between the two.
    let version: String
    /// The field that the client reads; `nil` if its schema does not have the attribute.
    var reads: Field?
    /// The fields that the client writes.
    var writes: [Field]
    /// The value that the client writes; `nil` for none.
    var value: Int?

    /// A client that reads and writes one field.
    init(_ version: String, _ field: Field?, writing value: Int?) {
        (self.version, reads, writes, self.value) = (version, field, field.map { [$0] } ?? [], value)
    }

    /// A client that reads one field and writes several.
    init(_ version: String, reading field: Field?, writing value: Int?, to fields: [Field]) {
        (self.version, reads, writes, self.value) = (version, field, fields, value)
    }

    /// The fields of a document that the client writes.
    var written: [(String, BSONValue)] { value.map { value in writes.map { ($0.name, $0.stored(value)) } } ?? [] }
}

struct PrismaError: Error, Hashable { let code: String }

/// The documents of a test with the values that the last writer gave them, whichever field holds them.
struct OrderWorld {
    let database: TestDatabase
    private var values: [Int: Int?] = [:]
    /// The version of the client that writes each document.
    private var owners: [Int: String] = [:]

    static let collection = "Row"

    init(_ database: TestDatabase) { self.database = database }

    /// Inserts ten documents of a client.
    /// - Parameter gap: the value that the client reads in every second document, which lacks the field; `nil` if every
    ///   document is as the client writes it.
    mutating func seed(_ client: PrismaClient, gap: Int?) async throws {
        for id in 0..<10 {
            let isGap = gap != nil && id % 2 == 1
            try await insert(id, isGap ? [] : client.written)
            (values[id], owners[id]) = (isGap ? gap : client.value, client.version)
        }
    }

    private func insert(_ id: Int, _ fields: [(String, BSONValue)]) async throws {
        try await database.fill(Self.collection, [BSONDocument([("_id", .int(Int32(id)))] + fields)])
    }

    /// Lets each client insert a document and write to another one; then each reads all documents.
    ///
    /// A document is written by clients of one version at a time, since two that write to one at once have no order.
    /// The documents of a version that no longer runs go to the first client.
    /// - Returns: the versions whose clients failed to read a document, or read another value than the last one
    ///   written.
    mutating func live(_ clients: [PrismaClient]) async throws -> Set<String> {
        let versions = clients.map(\.version)
        for (id, version) in owners where !versions.contains(version) { owners[id] = versions[0] }
        for client in clients {
            let mine = owners.filter { $0.value == client.version }.keys.min()
            let id = values.count
            try await insert(id, client.written)
            (values[id], owners[id]) = (client.value, client.version)
            guard let mine, !client.written.isEmpty else { continue }
            let change: BSONDocument = [
                "q": ["_id": .int(Int32(mine))], "u": ["$set": .object(BSONDocument(client.written))],
            ]
            try await database.run(["update": .string(Self.collection), "updates": [.object(change)]])
            values[mine] = client.value
        }
        var failed: Set<String> = []
        for client in clients where try await !readsAll(client) { failed.insert(client.version) }
        return failed
    }

    private func readsAll(_ client: PrismaClient) async throws -> Bool {
        guard let field = client.reads else { return true }
        return try await database.documents(Self.collection).allSatisfy { document in
            guard let id = document["_id"]?.integer, let expected = values[id] else { return false }
            do throws(PrismaError) { return try field.read(document) == expected } catch { return false }
        }
    }

    /// Says that every document without a value has this one from now on, because a job wrote it.
    mutating func fill(_ value: Int) {
        for id in values.keys where values[id] == .some(nil) { values[id] = value }
    }
}
