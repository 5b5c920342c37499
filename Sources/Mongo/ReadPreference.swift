internal import CMongoC

/// The members of a replica set that answer reads.
package enum ReadPreference: Hashable, Sendable {
    /// The primary alone.
    case primary
    /// The primary, or a secondary when there is no primary.
    case primaryPreferred
    /// A secondary, or the primary when there is no secondary.
    case secondaryPreferred
    /// Any member with a low latency.
    case nearest
}

extension ReadPreference {
    /// Calls `body` with the driver's read preference; the corresponding C type is `mongoc_read_prefs_t`.
    func withHandle<R, E: Error>(_ body: (OpaquePointer) throws(E) -> R) throws(E) -> R {
        guard let handle = unsafe mongoc_read_prefs_new(native) else {
            preconditionFailure("mongoc_read_prefs_new does not fail")
        }
        defer { unsafe mongoc_read_prefs_destroy(handle) }
        return try unsafe body(handle)
    }

    private var native: mongoc_read_mode_t {
        switch self {
        case .primary: MONGOC_READ_PRIMARY
        case .primaryPreferred: MONGOC_READ_PRIMARY_PREFERRED
        case .secondaryPreferred: MONGOC_READ_SECONDARY_PREFERRED
        case .nearest: MONGOC_READ_NEAREST
        }
    }
}

extension MongoURI {
    /// Sets the read preference of the connection string, without tags and staleness.
    ///
    /// The corresponding C function is `mongoc_uri_set_read_prefs_t`, which copies its argument.
    func set(_ preference: ReadPreference) {
        unsafe preference.withHandle { unsafe mongoc_uri_set_read_prefs_t(handle, $0) }
    }
}

extension ReadPreference? {
    /// Calls `body` with the driver's read preference, or with `nil` if there is none.
    func withHandle<R, E: Error>(_ body: (OpaquePointer?) throws(E) -> R) throws(E) -> R {
        guard let self else { return try body(nil) }
        return try unsafe self.withHandle { handle throws(E) in try unsafe body(handle) }
    }
}
