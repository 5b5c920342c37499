import BSON
import Checking
import Concurrency
import Mongo

/// Looks up the documents that links lead to, many at a time.
///
/// Its memory is bounded: it holds the keys of about a thousand links, or those of one document if there are more.
struct LinkFollower {
    private let schema: CompiledSchema
    /// The target of each link.
    private let namespaces: [Namespace]
    /// The collection with the documents of each link's target.
    private let collections: [MongoCollection]
    /// The schemas of the links' targets, as far as they are known.
    private let targets: [Namespace: CompiledSchema]
    private let patience = Duration.seconds(60)
    private var pending: [Source] = []
    private var pendingCount = 0

    private struct Source {
        var id: BSONValue
        var keys: [LinkedKey]
    }

    /// Prepares to follow the links of a schema.
    /// - Parameter place: Returns the collection that holds the documents of a collection of the schema.
    init(
        _ schema: CompiledSchema, targets: [Namespace: CompiledSchema], on client: borrowing Client,
        place: (Namespace) -> Namespace
    ) {
        self.schema = schema
        self.targets = targets
        namespaces = schema.linkTargets
        var collections: [MongoCollection] = []
        for target in namespaces { collections.append(client.collection(place(target))) }
        self.collections = collections
    }

    /// Adds a document's links, and looks up all added links once there are enough.
    /// - Throws: ``MongoError``, or ``BSONError`` for a damaged document.
    mutating func add(_ document: borrowing BSONView, to tally: inout Tally) throws {
        let keys = try schema.linkedKeys(of: document)
        guard !keys.isEmpty, let id = try document.find("_id") else { return }
        pending.append(Source(id: try document.value(id), keys: keys))
        pendingCount += keys.count
        if pendingCount >= 1_000 { try flush(into: &tally) }
    }

    /// Looks up the links that were added.
    /// - Throws: ``MongoError``, or ``BSONError`` for a damaged document.
    mutating func flush(into tally: inout Tally) throws {
        guard !pending.isEmpty else { return }
        var found: [Namespace: Found] = [:]
        for (target, keys) in keysByTarget() { found[target] = try lookUp(keys, in: target) }
        for source in pending {
            var findings: Set<LinkFinding> = []
            for linked in source.keys {
                let target = found[namespaces[linked.link]]
                let key = IDKey(linked.key)
                if target?.all.contains(key) != true {
                    findings.insert(LinkFinding(.dangling, link: linked.link, type: linked.key.type))
                } else if target?.unsyncable.contains(key) == true {
                    findings.insert(LinkFinding(.targetUnsyncable, link: linked.link, type: linked.key.type))
                }
            }
            if !findings.isEmpty { tally.add(findings, of: source.id) }
        }
        pending.removeAll(keepingCapacity: true)
        pendingCount = 0
    }

    private func keysByTarget() -> [Namespace: Set<IDKey>] {
        var keys: [Namespace: Set<IDKey>] = [:]
        for source in pending {
            for linked in source.keys { keys[namespaces[linked.link], default: []].insert(IDKey(linked.key)) }
        }
        return keys
    }
}

// MARK: reading

extension LinkFollower {
    private struct Found {
        var all: Set<IDKey> = []
        var unsyncable: Set<IDKey> = []
    }

    private func lookUp(_ keys: Set<IDKey>, in target: Namespace) throws -> Found {
        guard let number = namespaces.firstIndex(of: target) else { return Found() }
        var found = Found()
        for slice in keys.map(\.value).commandSlices(count: 1_000) {
            var retries = Retries(limit: patience)
            while true {
                do {
                    try read(slice, of: collections[number], schema: targets[target], into: &found)
                    break
                } catch let error as MongoError where error.isCursorLost {
                    try retries.wait(after: error, isProgress: false) { false }
                }
            }
        }
        return found
    }

    private func read(
        _ keys: [BSONValue], of collection: MongoCollection, schema: CompiledSchema?, into found: inout Found
    ) throws {
        var options: BSONDocument = ["readConcern": ["level": "majority"], "comment": "shipshape check links"]
        // The server sends the whole document only if a schema judges it.
        if schema == nil { options = options.appending("projection", ["_id": 1]) }
        var cursor = collection.find(["_id": ["$in": .array(of: keys)]], options: options)
        while let document = try cursor.next() {
            guard let element = try document.find("_id") else { continue }
            let key = IDKey(try document.value(element))
            found.all.insert(key)
            if let schema, try schema.check(document) == .certain { found.unsyncable.insert(key) }
        }
    }
}
