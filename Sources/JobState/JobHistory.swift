package import BSON
package import Mongo

/// The changes that jobs made to the documents of a collection, read from the state database.
///
/// This type writes nothing.
package struct JobHistory {
    /// A job that was started.
    package struct Job: Hashable, Sendable {
        package var name: String
        /// The state that the job's last runner stored, such as `done` or `stopped`.
        package var state: String
        package var modified: Int
        /// The texts of the files of the job's next schema; empty if the job names none.
        package var next: Set<String>
        /// Whether the state database holds journaled changes of the job.
        ///
        /// `false` if a run kept no journal, if the journal is empty, or if a cleanup removed it.
        package var hasJournal: Bool

        /// Whether the job was begun, has work left, and is not being undone.
        package var isUnfinished: Bool { !["done", "undone", "undoing", "idle"].contains(state) }
    }

    /// The jobs of the collection that were not undone, in the order of their first starts.
    package let jobs: [Job]
    private let client: StoreClient
    private let namespace: Namespace

    /// Reads the jobs of a collection from the state database; if that database does not exist, there are none.
    /// - Throws: ``MongoError``, for instance when the user is not allowed to read the state database; ``RunError`` for
    ///   a damaged record.
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

    /// Returns the changes that jobs journaled for the given documents, by `_id`.
    ///
    /// The changes of one document are sorted by the first start of their job, and within a job from the oldest to the
    /// newest. A document without a journaled change is missing from the result.
    /// - Throws: ``MongoError``, ``BSONError`` or ``RunError`` for a journal that cannot be read.
    package func changes(of ids: Set<IDKey>) throws -> [IDKey: [JournalGroup]] {
        var changes: [IDKey: [JournalGroup]] = [:]
        for job in jobs where job.hasJournal {
            try JournalStore(client: client, job: job.name).eachPart { part in
                for entry in part.entries where ids.contains(IDKey(entry.id)) {
                    changes[IDKey(entry.id), default: []].append(part.groups[entry.group])
                }
            }
        }
        return changes
    }

    /// Returns which of the given documents any job has reserved because it may make them unsyncable.
    ///
    /// A job reserves a document before it writes the document, so a reserved document may still be syncable.
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
