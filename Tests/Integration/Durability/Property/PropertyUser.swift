import BSON
import Conformance
import Mongo
import TestSupport

/// A user of the collection who writes at random, and remembers each document after their last write.
actor PropertyUser {
    private let database: TestDatabase
    private var random: Randomness
    private var documents: PropertyDocuments
    private let paths: [String]
    private var ids: [BSONValue]
    private var favorites: [BSONValue] = []
    /// The documents as the user's last write left them, by `_id`; `nil` after a deletion.
    private(set) var left: [PropertyKey: BSONDocument?] = [:]
    /// The values that the user's writes left, by `_id` and top-level field; `nil` if the field was missing then.
    private(set) var values: [PropertyKey: [String: [BSONValue?]]] = [:]
    /// The top-level fields that the job writes.
    private let targets: [String]

    /// Makes a user of a collection of these documents, who prefers to write the fields that a job uses.
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

    /// Writes this many times, with rests of up to `resting` milliseconds in between.
    /// - Parameter favorites: documents that are written more often than others.
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
            return  // another document has that `_id`, or the server does not accept it
        }
        ids.append(id)
        remember(document, id, names: nil)
    }

    /// Remembers the values that a write left in these fields; `nil` means all.
    private func remember(_ document: BSONDocument, _ id: BSONValue, names: [String]?) {
        let key = PropertyKey(id)
        left[key] = document
        for name in names ?? targets { values[key, default: [:]][name, default: []].append(document[name]) }
    }

    /// Changes one document, and remembers it as the server returns it.
    private func change(_ change: BSONDocument) async throws {
        let id = !favorites.isEmpty && random.percent(60) ? random.pick(favorites) : random.pick(ids)
        let filter: BSONDocument = ["$expr": ["$eq": ["$_id", ["$literal": id]]]]
        let command = BSONDocument(
            [("findAndModify", "c"), ("query", .object(filter))] + (try change.elements()).map { ($0.name, $0.value) })
        let reply: BSONDocument
        do { reply = try await database.run(command) } catch let error as MongoError where !error.isTransient {
            return  // such as a path through a text: nothing was written
        }
        guard case .object(let document)? = reply["value"], let id = document["_id"] else { return }
        if change["remove"] == true {
            left.updateValue(nil, forKey: PropertyKey(id))
        } else {
            remember(document, id, names: try Self.names(of: change["update"]))
        }
    }

    /// Returns the top-level fields that an update writes, or `nil` for a replacement.
    private static func names(of update: BSONValue?) throws -> [String]? {
        guard let (name, body) = try update?.document?.elements().first, name.hasPrefix("$") else { return nil }
        let written = try body.document?.elements() ?? []
        let paths = written.map(\.name) + (name == "$rename" ? written.compactMap(\.value.text) : [])
        return paths.map { String($0.prefix { $0 != "." }) }
    }
}

/// An `_id` by its bytes, because a document with `_id` 1 may be replaced by one with `_id` 1.0.
struct PropertyKey: Hashable, Sendable, CustomStringConvertible {
    private let document: BSONDocument

    init(_ id: BSONValue) { document = ["": id] }

    var description: String { document[""].map { "\($0)" } ?? "" }
}
