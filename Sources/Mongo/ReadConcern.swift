package import BSON
internal import CMongoC

/// The data that a read may see.
///
/// The server defines the levels, so it may have others.
package struct ReadConcern: RawRepresentable, Hashable, Sendable {
    /// The server's name of the level.
    package let rawValue: String
    /// Creates a read concern from the server's name of the level.
    package init(rawValue: String) { self.rawValue = rawValue }

    /// The member's current data.
    package static let local = ReadConcern(rawValue: "local")
    /// Data that no failover can undo.
    package static let majority = ReadConcern(rawValue: "majority")
    /// Data that no failover can undo, confirmed by the primary at the time of the read.
    package static let linearizable = ReadConcern(rawValue: "linearizable")
    /// The data of one point in time.
    package static let snapshot = ReadConcern(rawValue: "snapshot")
    /// The member's current data, including orphaned documents of a sharded cluster.
    package static let available = ReadConcern(rawValue: "available")

    /// All levels.
    static let all: [ReadConcern] = [.local, .majority, .linearizable, .snapshot, .available]

    /// The value of a command's option `readConcern`.
    package var document: BSONDocument { ["level": .string(rawValue)] }
}

extension MongoURI {
    /// The read concern in the connection string; `nil` if it sets none.
    ///
    /// The corresponding C function is `mongoc_uri_get_read_concern`.
    var readConcern: ReadConcern? {
        guard let concern = unsafe mongoc_uri_get_read_concern(handle),
            let level = unsafe mongoc_read_concern_get_level(concern)
        else { return nil }
        return ReadConcern(rawValue: unsafe String(cString: level))
    }

    /// Sets the read concern of the connection string.
    ///
    /// The corresponding C function is `mongoc_uri_set_read_concern`, which copies.
    func set(_ concern: ReadConcern) {
        let handle = unsafe mongoc_read_concern_new()
        defer { unsafe mongoc_read_concern_destroy(handle) }
        unsafe mongoc_read_concern_set_level(handle, concern.rawValue)
        unsafe mongoc_uri_set_read_concern(self.handle, handle)
    }
}
