package import BSON
internal import CMongoC

/// When a write counts as done.
package struct WriteConcern: Hashable, Sendable {
    /// Which members must have it.
    package enum Acknowledgement: Hashable, Sendable {
        /// A majority of the voting members.
        case majority
        /// That many members, 1 at least.
        case members(Int)
        /// The members that a mode of the replica set's settings names.
        case mode(String)
    }

    /// Which members must have it.
    package var acknowledgement: Acknowledgement
    /// Whether it must be in their journal; `nil` for the server's default.
    package var isJournaled: Bool?
    /// How long to wait for them; `nil` for no limit.
    package var timeout: Duration?

    /// Makes a concern.
    package init(_ acknowledgement: Acknowledgement, isJournaled: Bool? = nil, timeout: Duration? = nil) {
        self.acknowledgement = acknowledgement
        self.isJournaled = isJournaled
        self.timeout = timeout
    }

    /// A majority of the voting members.
    package static let majority = WriteConcern(.majority)

    /// As the option `writeConcern` of a command.
    package var document: BSONDocument {
        var builder = BSONBuilder()
        switch acknowledgement {
        case .majority: builder.append("w", "majority")
        case .members(let count): builder.append("w", .integer(count))
        case .mode(let name): builder.append("w", .string(name))
        }
        if let isJournaled { builder.append("j", .bool(isJournaled)) }
        if let timeout { builder.append("wtimeout", .int(timeout.driverMilliseconds)) }
        return builder.finish()
    }
}

extension MongoURI {
    /// The corresponding C function is `mongoc_uri_set_write_concern`, which copies.
    func set(_ concern: WriteConcern) {
        let handle = unsafe mongoc_write_concern_new()
        defer { unsafe mongoc_write_concern_destroy(handle) }
        switch concern.acknowledgement {
        case .majority: unsafe mongoc_write_concern_set_w(handle, MONGOC_WRITE_CONCERN_W_MAJORITY)
        case .members(let count): unsafe mongoc_write_concern_set_w(handle, Int32(clamping: count))
        case .mode(let name): unsafe mongoc_write_concern_set_wtag(handle, name)
        }
        if let isJournaled = concern.isJournaled { unsafe mongoc_write_concern_set_journal(handle, isJournaled) }
        if let timeout = concern.timeout {
            unsafe mongoc_write_concern_set_wtimeout(handle, timeout.driverMilliseconds)
        }
        unsafe mongoc_uri_set_write_concern(self.handle, handle)
    }
}

extension Duration {
    /// Whole milliseconds as the driver takes them: 1 at least, as 0 means "for ever" to it.
    var driverMilliseconds: Int32 {
        let parts = components
        return max(1, Int32(clamping: parts.seconds * 1_000 + parts.attoseconds / 1_000_000_000_000_000))
    }
}
