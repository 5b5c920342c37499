import BSON
import Mongo

/// The sessions in whose transactions a partner's mirrors write.
///
/// The server names the session with each change that a transaction wrote, so that a mirror recognises its own writes
/// in the change streams by the session, never by the document: a client may write the same document again. The state
/// database keeps the sessions, because a change may be told to a later run.
struct OwnSessions {
    /// A session, and when the last transaction in it can have ended.
    private struct Entry {
        /// The `lsid`.
        var session: BSONDocument
        /// `nil` while the runner that has the session may be alive.
        var end: ClusterTime?
    }

    private var entries: [Entry]

    /// Reads what ``value`` wrote; anything else holds no session.
    init(_ value: BSONValue?) {
        entries = (value?.document?.values.compactMap(\.document) ?? []).compactMap { entry in
            guard let session = entry["lsid"]?.document else { return nil }
            let end: ClusterTime? =
                if case .timestamp(let time)? = entry["end"] { ClusterTime(rawValue: time) } else { nil }
            return Entry(session: session, end: end)
        }
    }

    /// The sessions as the state database keeps them.
    var value: BSONValue {
        .array(
            of: entries.map { entry in
                let end: BSONValue = entry.end.map { .timestamp($0.rawValue) } ?? .null
                return ["lsid": .object(entry.session), "end": end]
            })
    }

    /// The `lsid.id` of each: what a change stream names.
    var ids: Set<BSONValue> { Set(entries.compactMap { $0.session["id"] }) }

    /// The `lsid` of each, as `killSessions` takes them.
    var sessions: [BSONDocument] { entries.map(\.session) }

    /// Adds the session of a runner that took the lease at a time: no transaction of an earlier runner is committed
    /// after it, because each begins with a write to the record of the lease.
    mutating func begin(_ session: BSONDocument, at time: ClusterTime) {
        for index in entries.indices where entries[index].end == nil { entries[index].end = time }
        entries.append(Entry(session: session, end: nil))
    }

    /// Forgets the sessions of which no change stream tells any more that is read from a time on.
    mutating func forget(before time: ClusterTime) {
        entries.removeAll { entry in entry.end.map { $0 < time } ?? false }
    }
}
