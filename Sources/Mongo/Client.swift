package import BSON
internal import CMongoC

/// A client that a pool lent: its calls block, so they belong on a thread of our own.
///
/// It goes back to the pool when it, its collections, cursors and sessions are gone. The corresponding C type is
/// `mongoc_client_t`.
package struct Client: ~Copyable {
    let lease: ClientLease

    /// The deployment's addresses, without user and password.
    package var host: String { lease.host }

    /// Whether a router stands between: what the driver knows of the servers that it has met, without asking.
    package var isBehindRouter: Bool { unsafe cmongoc_knows_router(lease.handle) }

    /// Whether reads may be answered by a secondary, by the client's own read preference.
    package var mayReadFromSecondaries: Bool {
        unsafe mongoc_read_prefs_get_mode(mongoc_client_get_read_prefs(lease.handle)) != MONGOC_READ_PRIMARY
    }

    /// A collection of the deployment, whether it exists or not.
    package func collection(_ namespace: Namespace) -> MongoCollection {
        MongoCollection(namespace: namespace, lease: lease)
    }
}
