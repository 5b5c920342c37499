import BSON
import Mongo

/// The server sessions that the mirrors of a partner use for their transactions.
///
/// The change event of a write in a transaction contains the session. A mirror recognises its own writes by the session
/// and never by the document, because a client may write an equal document. The state database stores the sessions,
/// because a later run may receive the change events of an earlier run's writes.
struct OwnSessions {
    /// A session, and the time by which all its transactions have ended.
    private struct Entry {
        /// The session's `lsid`.
        var session: BSONDocument
        /// The time after which no transaction in the session commits; `nil` while the runner of the session may be
        /// running.
        var end: ClusterTime?
    }

    private var entries: [Entry]

    /// Reads the stored sessions from a value in the format of ``value``; the list is empty if the value has another
    /// format.
    init(_ value: BSONValue?) {
        entries = (value?.document?.values.compactMap(\.document) ?? []).compactMap { entry in
            guard let session = entry["lsid"]?.document else { return nil }
            let end: ClusterTime? =
                if case .timestamp(let time)? = entry["end"] { ClusterTime(rawValue: time) } else { nil }
            return Entry(session: session, end: end)
        }
    }

    /// The sessions as the state database stores them.
    var value: BSONValue {
        .array(
            of: entries.map { entry in
                let end: BSONValue = entry.end.map { .timestamp($0.rawValue) } ?? .null
                return ["lsid": .object(entry.session), "end": end]
            })
    }

    /// The `lsid.id` of each session, which change events contain.
    var ids: Set<BSONValue> { Set(entries.compactMap { $0.session["id"] }) }

    /// The `lsid` of each session, for `killSessions`.
    var sessions: [BSONDocument] { entries.map(\.session) }

    /// Adds the session of a runner that took the lease at the given time; the earlier sessions end at that time.
    ///
    /// Each transaction writes to the lease's document in the state database, so no transaction of an earlier runner
    /// commits after that time.
    mutating func begin(_ session: BSONDocument, at time: ClusterTime) {
        for index in entries.indices where entries[index].end == nil { entries[index].end = time }
        entries.append(Entry(session: session, end: nil))
    }

    /// Removes the sessions that ended before the given time, because no change stream is read from an earlier time.
    mutating func forget(before time: ClusterTime) {
        entries.removeAll { entry in entry.end.map { $0 < time } ?? false }
    }
}
