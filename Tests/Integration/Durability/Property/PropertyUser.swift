import BSON
import Mongo
import Proving
import TestSupport

/// A user of the collection who writes at random, and remembers each document as the user's last write left it.
actor PropertyUser {
    private let database: TestDatabase
    private var random: Randomness
    private var documents: PropertyDocuments
    private let paths: [String]
    private var ids: [BSONValue]
    private var favorites: [BSONValue] = []
    /// The documents that the user wrote, by `_id`, each with the content after the user's last write to it.
    ///
    /// `nil` if that write deleted the document.
    private(set) var left: [PropertyKey: BSONDocument?] = [:]
    /// The values that the user's writes left in top-level fields, by `_id` and name of the field.
    ///
    /// An update adds the values of the fields that it changed. An insert or a replacement adds the values of the
    /// fields that the job may write. A value is `nil` if the field was missing after the write.
    private(set) var values: [PropertyKey: [String: [BSONValue?]]] = [:]
    /// The top-level fields that the job may write.
    private let targets: [String]

    /// Creates a user who inserts documents of the given kind, and who updates each source or target of the job's steps
    /// at least twice as often as any other field.
    init(
        _ database: TestDatabase, random: Randomness, documents: PropertyDocuments, ids: [BSONValue], job: ModelJob
    ) {
        self.database = database
        self.random = random
        self.documents = documents
        self.ids = ids
        let own = job.steps.flatMap { [$0.target, $0.source].compactMap(\.self) }.map(\.description)
        targets = job.topLevelTargets
        paths = own + own + ["a", "e.x", "free", "e.free", "l", "m.k2"]
    }

    /// Writes this many times, with pauses of up to `resting` milliseconds in between.
    ///
    /// - Parameter favorites: the `_id`s of documents that are written more often than others.
    func write(times: Int, resting: Int = 0, among favorites: [BSONValue] = []) async throws {
        self.favorites = favorites
        for _ in 0..<times {
            if resting > 0 { try await Task.sleep(for: .milliseconds(random.below(resting + 1))) }
            try await write()
        }
    }

    private func write() async throws {
        switch random.below(20) {
        case 0, 1: try await insert()
        case 2: try await change(["remove": true])
        case 3, 4: try await change(["update": .object(documents.fields()), "new": true])
        case 5, 6, 7, 8: try await change(["update": ["$unset": [random.pick(paths): ""]], "new": true])
        case 9: try await change(["update": ["$push": [random.pick(paths): documents.value()]], "new": true])
        case 10: try await change(["update": ["$inc": [random.pick(paths): 1]], "new": true])
        case 11: try await change(["update": ["$rename": ["free": .string(random.pick(paths))]], "new": true])
        default: try await change(["update": ["$set": [random.pick(paths): documents.value()]], "new": true])
        }
    }

    private func insert() async throws {
        let document = documents.document()
        guard let id = document["_id"], id != .timestamp(0) else { return }
        do { try await database.run(["insert": "c", "documents": [.object(document)]]) } catch let error as MongoError
            where !error.isTransient
        {
            return  // another document has that `_id`, or the server refuses the document
        }
        ids.append(id)
        remember(document, id, names: nil)
    }

    /// Remembers a document as a write left it, and the values of its top-level fields.
    ///
    /// - Parameter names: the fields that the write changed; `nil` for all fields that the job may write.
    private func remember(_ document: BSONDocument, _ id: BSONValue, names: [String]?) {
        let key = PropertyKey(id)
        left[key] = document
        for name in names ?? targets { values[key, default: [:]][name, default: []].append(document[name]) }
    }

    /// Changes one random document, and remembers it as the server returns it.
    private func change(_ change: BSONDocument) async throws {
        let id = !favorites.isEmpty && random.percent(60) ? random.pick(favorites) : random.pick(ids)
        let filter: BSONDocument = ["$expr": ["$eq": ["$_id", ["$literal": id]]]]
        let command = BSONDocument(
            [("findAndModify", "c"), ("query", .object(filter))] + (try change.elements()).map { ($0.name, $0.value) })
        let reply: BSONDocument
        do { reply = try await database.run(command) } catch let error as MongoError where !error.isTransient {
            return  // the server refused the change, such as a path through a string
        }
        guard case .object(let document)? = reply["value"], let id = document["_id"] else { return }
        if change["remove"] == true {
            left.updateValue(nil, forKey: PropertyKey(id))
        } else {
            remember(document, id, names: try Self.names(of: change["update"]))
        }
    }

    /// Returns the top-level fields that an update writes; `nil` for a replacement or a deletion.
    private static func names(of update: BSONValue?) throws -> [String]? {
        guard let (name, body) = try update?.document?.elements().first, name.hasPrefix("$") else { return nil }
        let written = try body.document?.elements() ?? []
        let paths = written.map(\.name) + (name == "$rename" ? written.compactMap(\.value.text) : [])
        return paths.map { String($0.prefix { $0 != "." }) }
    }
}

/// An `_id` that is compared by its bytes, because a document with `_id` 1 may be replaced by one with `_id` 1.0.
struct PropertyKey: Hashable, Sendable, CustomStringConvertible {
    private let document: BSONDocument

    init(_ id: BSONValue) { document = ["": id] }

    var description: String { document[""].map { "\($0)" } ?? "" }
}
