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
    /// One point in time.
    package static let snapshot = ReadConcern(rawValue: "snapshot")
    /// What the member has, orphaned documents of a sharded cluster among it.
    package static let available = ReadConcern(rawValue: "available")

    /// As the option `readConcern` of a command.
    package var document: BSONDocument { ["level": .string(rawValue)] }
}

extension MongoURI {
    /// The corresponding C function is `mongoc_uri_set_read_concern`, which copies.
    func set(_ concern: ReadConcern) {
        let handle = unsafe mongoc_read_concern_new()
        defer { unsafe mongoc_read_concern_destroy(handle) }
        unsafe mongoc_read_concern_set_level(handle, concern.rawValue)
        unsafe mongoc_uri_set_read_concern(self.handle, handle)
    }
}
