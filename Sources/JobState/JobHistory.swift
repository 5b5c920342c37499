package import BSON
package import Mongo

/// What jobs did to the documents of a collection, as the state database tells it; nothing here writes.
package struct JobHistory {
    /// A job that was started.
    package struct Job: Hashable, Sendable {
        /// Its name.
        package var name: String
        /// How far it is, as its runner left it: `done`, `stopped` and the like.
        package var state: String
        /// Documents that it changed.
        package var modified: Int
        /// The texts of the files of the schema that it makes documents fit.
        package var next: Set<String>
        /// Whether it can still be told what they were before.
        package var hasJournal: Bool

        /// Whether it has work left.
        package var isUnfinished: Bool { !["done", "undone", "undoing", "idle"].contains(state) }
    }

    /// The jobs of the collection, in the order of their first starts; those that were undone left nothing.
    package let jobs: [Job]
    private let client: StoreClient
    private let namespace: Namespace

    /// Reads which jobs there are; none where there is no state database.
    /// - Throws: ``MongoError``, for instance when the state database may not be read; ``RunError`` for a damaged record.
    package init(of namespace: Namespace, in client: StoreClient) throws {
        (self.namespace, self.client) = (namespace, client)
        var records = try client.allChecked("jobs", ["ns": .string(namespace.description)])
        records.sort { (ServerTime($0["created"])?.milliseconds ?? 0) < (ServerTime($1["created"])?.milliseconds ?? 0) }
        var jobs: [Job] = []
        for record in records {
            guard let name = record["_id"]?.text else { continue }
            let ranges = try client.allChecked("ranges", ["_id.job": .string(name)])
            let state = ranges.compactMap { $0["state"]?.text }.first ?? ""
            let isKept = record["journal"] == .bool(true) && record["cleaned"] == nil
            let isEmpty = try JournalStore(client: client, job: name).isEmpty()
            jobs.append(
                Job(
                    name: name, state: state, modified: ranges.reduce(0) { $0 + Progress($1).modified },
                    next: Set(
                        (record["schemas"]?.document?.values ?? []).compactMap(\.document).filter {
                            $0["role"] == "next"
                        }
                        .compactMap { $0["text"]?.text }),
                    hasJournal: isKept && !isEmpty))
        }
        self.jobs = jobs.filter { $0.state != "undone" }
    }

    /// How the jobs changed some documents, of each the oldest change first.
    /// - Throws: ``MongoError``, ``BSONError`` or ``RunError`` for a journal that cannot be read.
    package func changes(of ids: Set<IDKey>) throws -> [IDKey: [JournalGroup]] {
        var changes: [IDKey: [JournalGroup]] = [:]
        for job in jobs where job.hasJournal {
            try JournalStore(client: client, job: job.name).eachPart { part in
                for entry in part.entries where ids.contains(IDKey(entry.id)) {
                    changes[IDKey(entry.id), default: []].append(part.groups[entry.group].change)
                }
            }
        }
        return changes
    }

    /// Those of some documents that a job made unsyncable on purpose.
    /// - Throws: ``MongoError``.
    package func reserved(_ ids: Set<IDKey>) throws(MongoError) -> Set<IDKey> {
        var reserved: Set<IDKey> = []
        var cursor = client.all("harm", ["_id.ns": .string(namespace.description)])
        while let record = try cursor.nextDocument() {
            guard let id = record["_id"]?.document?["id"] else { continue }
            if ids.contains(IDKey(id)) { reserved.insert(IDKey(id)) }
        }
        return reserved
    }
}
