package import BSON
internal import CMongoC

/// The members of a replica set that answer reads.
package struct ReadPreference: Hashable, Sendable {
    /// The rule by which the driver chooses the kind of member that answers a read.
    package enum Mode: String, Hashable, Sendable, CaseIterable {
        /// The primary alone.
        case primary
        /// The primary, or a secondary when there is no primary.
        case primaryPreferred
        /// A secondary alone.
        case secondary
        /// A secondary, or the primary when there is no secondary.
        case secondaryPreferred
        /// Any member with a low latency.
        case nearest
    }

    /// The kind of member that answers reads.
    package var mode: Mode
    /// Sets of tags, in the order in which the driver tries them: the first set that matches a member decides.
    ///
    /// An empty list allows every member of the right kind.
    package var tags: [BSONDocument]
    /// The largest lag of a secondary, at least 90 seconds; `nil` for any lag.
    package var maxStaleness: Duration?

    package init(_ mode: Mode, tags: [BSONDocument] = [], maxStaleness: Duration? = nil) {
        self.mode = mode
        self.tags = tags
        self.maxStaleness = maxStaleness
    }

    /// The primary alone.
    package static let primary = ReadPreference(.primary)
    /// A secondary, or the primary when there is no secondary.
    package static let secondaryPreferred = ReadPreference(.secondaryPreferred)
}

extension ReadPreference {
    /// Calls `body` with the driver's read preference; the corresponding C type is `mongoc_read_prefs_t`.
    func withHandle<R, E: Error>(_ body: (OpaquePointer) throws(E) -> R) throws(E) -> R {
        let tags = BSONValue.array(of: tags.map { .object($0) }).document ?? BSONDocument()
        let seconds = maxStaleness.map { $0.components.seconds } ?? -1
        let handle = unsafe tags.lend { unsafe cmongoc_read_preference(mode.native, $0, seconds) }
        guard let handle = unsafe handle else { preconditionFailure("mongoc_read_prefs_new does not fail") }
        defer { unsafe mongoc_read_prefs_destroy(handle) }
        return try unsafe body(handle)
    }
}

extension MongoURI {
    /// Sets the read preference of the connection string.
    ///
    /// The connection string keeps its own tags and staleness if `preference` has neither, and if the mode of
    /// `preference` is not `primary`.
    ///
    /// The corresponding C function is `mongoc_uri_set_read_prefs_t`, which copies its argument.
    func set(_ preference: ReadPreference) {
        let keepsOwn = preference.tags.isEmpty && preference.maxStaleness == nil && preference.mode != .primary
        guard keepsOwn, let own = unsafe mongoc_uri_get_read_prefs_t(handle),
            let copy = unsafe mongoc_read_prefs_copy(own)
        else {
            return unsafe preference.withHandle { unsafe mongoc_uri_set_read_prefs_t(handle, $0) }
        }
        defer { unsafe mongoc_read_prefs_destroy(copy) }
        unsafe mongoc_read_prefs_set_mode(copy, preference.mode.native)
        unsafe mongoc_uri_set_read_prefs_t(handle, copy)
    }
}

extension ReadPreference? {
    /// Calls `body` with the driver's read preference, or with `nil` if there is none.
    func withHandle<R, E: Error>(_ body: (OpaquePointer?) throws(E) -> R) throws(E) -> R {
        guard let self else { return try body(nil) }
        return try unsafe self.withHandle { handle throws(E) in try unsafe body(handle) }
    }
}

extension ReadPreference.Mode {
    fileprivate var native: mongoc_read_mode_t {
        switch self {
        case .primary: MONGOC_READ_PRIMARY
        case .primaryPreferred: MONGOC_READ_PRIMARY_PREFERRED
        case .secondary: MONGOC_READ_SECONDARY
        case .secondaryPreferred: MONGOC_READ_SECONDARY_PREFERRED
        case .nearest: MONGOC_READ_NEAREST
        }
    }
}
