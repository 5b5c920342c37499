package import BSON
internal import CMongoC

/// Which data a read may see.
///
/// Open: the levels are the server's.
package struct ReadConcern: RawRepresentable, Hashable, Sendable {
    /// The server's name of the level.
    package let rawValue: String
    /// Wraps a level.
    package init(rawValue: String) { self.rawValue = rawValue }

    /// What the member has.
    package static let local = ReadConcern(rawValue: "local")
    /// What no failover can take back.
    package static let majority = ReadConcern(rawValue: "majority")
    /// What no failover can take back, by the primary's own word at that moment.
    package static let linearizable = ReadConcern(rawValue: "linearizable")
    /// One point in time.
    package static let snapshot = ReadConcern(rawValue: "snapshot")
    /// What the member has, orphaned documents of a sharded cluster among it.
    package static let available = ReadConcern(rawValue: "available")

    /// All of them.
    static let all: [ReadConcern] = [.local, .majority, .linearizable, .snapshot, .available]

    /// As the option `readConcern` of a command.
    package var document: BSONDocument { ["level": .string(rawValue)] }
}

extension MongoURI {
    /// What the string itself says; `nil` when it says nothing.
    ///
    /// The corresponding C function is `mongoc_uri_get_read_concern`.
    var readConcern: ReadConcern? {
        guard let concern = unsafe mongoc_uri_get_read_concern(handle),
            let level = unsafe mongoc_read_concern_get_level(concern)
        else { return nil }
        return ReadConcern(rawValue: unsafe String(cString: level))
    }

    /// The corresponding C function is `mongoc_uri_set_read_concern`, which copies.
    func set(_ concern: ReadConcern) {
        let handle = unsafe mongoc_read_concern_new()
        defer { unsafe mongoc_read_concern_destroy(handle) }
        unsafe mongoc_read_concern_set_level(handle, concern.rawValue)
        unsafe mongoc_uri_set_read_concern(self.handle, handle)
    }
}
