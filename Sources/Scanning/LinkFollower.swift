import BSON
import Checking
import Concurrency
import Mongo

/// Looks up the documents to which links lead, many at a time.
///
/// The follower keeps about a thousand keys in memory, or more if one document has more.
struct LinkFollower {
    private let schema: CompiledSchema
    /// The documents to which the schema's links lead, one element for each link.
    private let places: [LinkTarget]
    /// The collections in the deployment to which the schema's links lead, one for each link.
    private let collections: [MongoCollection]
    /// The schemas by which linked documents are judged, by collection.
    ///
    /// A linked collection has no entry if the scan has no schema for it.
    private let targets: [Namespace: CompiledSchema]
    private let retryLimit = Duration.seconds(60)
    /// Returns whether to stop retrying; called before each retry of a failed read of linked documents.
    private let isStopped: () -> Bool
    private var pending: [Source] = []
    private var pendingCount = 0

    private struct Source {
        var id: BSONValue
        var keys: [LinkedKey]
        var counted: CountedVerdicts
    }

    /// Prepares to follow the links of a schema.
    /// - Parameters:
    ///   - isStopped: Returns whether to give up; called before a failed read of linked documents is repeated.
    ///   - place: Maps a collection of the schema to the collection of the deployment that has its documents.
    init(
        _ schema: CompiledSchema, targets: [Namespace: CompiledSchema], on client: borrowing Client,
        isStopped: @escaping () -> Bool, place: (Namespace) -> Namespace
    ) {
        self.isStopped = isStopped
        self.schema = schema
        self.targets = targets
        places = schema.linkTargets
        var collections: [MongoCollection] = []
        for target in places { collections.append(client.collection(place(target.namespace))) }
        self.collections = collections
    }

    /// Adds the links of a document to the pending links.
    ///
    /// Once at least a thousand links are pending, looks up all of them.
    /// - Throws: ``MongoError``, or ``BSONError`` for a damaged document.
    mutating func add(_ document: borrowing BSONView, to part: ScanPart) throws {
        let keys = try schema.linkedKeys(of: document)
        guard !keys.isEmpty, let id = try document.find("_id") else { return }
        pending.append(Source(id: try document.value(id), keys: keys, counted: part.tally.lastCounted))
        pendingCount += keys.count
        if pendingCount >= 1_000 { try flush(into: part) }
    }

    /// Looks up the documents of all pending links, and adds the findings to the tally of the part.
    /// - Throws: ``MongoError``, or ``BSONError`` for a damaged document.
    mutating func flush(into part: ScanPart) throws {
        guard !pending.isEmpty else { return }
        var found: [LinkTarget: Found] = [:]
        for (target, keys) in keysByTarget() { found[target] = try lookUp(keys, in: target) }
        for source in pending {
            var findings: Set<LinkFinding> = []
            for linked in source.keys {
                let target = found[places[linked.link]]
                if target?.all.contains(linked.key) != true {
                    findings.insert(LinkFinding(.dangling, link: linked.link, type: linked.type))
                } else if target?.unsyncable.contains(linked.key) == true {
                    findings.insert(LinkFinding(.targetUnsyncable, link: linked.link, type: linked.type))
                }
            }
            guard !findings.isEmpty else { continue }
            if let counted = part.tally.add(findings, of: source.id, counted: source.counted) {
                part.keys?.note(counted, of: source.id)
            }
        }
        pending.removeAll(keepingCapacity: true)
        pendingCount = 0
    }

    private func keysByTarget() -> [LinkTarget: Set<IDKey>] {
        var keys: [LinkTarget: Set<IDKey>] = [:]
        for source in pending {
            for linked in source.keys { keys[places[linked.link], default: []].insert(linked.key) }
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

    private func lookUp(_ keys: Set<IDKey>, in target: LinkTarget) throws -> Found {
        guard let number = places.firstIndex(of: target) else { return Found() }
        var found = Found()
        for slice in keys.map(\.value).commandSlices(count: 1_000) {
            var retries = Retries(limit: retryLimit)
            while true {
                do {
                    try read(slice, of: target, in: collections[number], into: &found)
                    break
                } catch let error as MongoError where error.isCursorLost {
                    try retries.wait(after: error, isProgress: false, isStopped: isStopped)
                }
            }
        }
        return found
    }

    private func read(
        _ keys: [BSONValue], of target: LinkTarget, in collection: MongoCollection, into found: inout Found
    ) throws {
        let schema = targets[target.namespace]
        var options: BSONDocument = ["readConcern": ["level": "majority"], "comment": "shipshape check links"]
        // If there is no schema by which to judge the documents, the server sends only their keys.
        if schema == nil {
            options = options.appending("projection", .object(BSONDocument(target.fields.map { ($0, 1) })))
        }
        var cursor = collection.find(target.filter(keys), options: options)
        while let document = try cursor.next() {
            guard let key = try target.key(of: document) else { continue }
            found.all.insert(key)
            if let schema, try schema.check(document) == .certain { found.unsyncable.insert(key) }
        }
    }
}
