package import BSON

/// A client that a pool lent: its calls block, so they belong on a thread of our own.
///
/// It goes back to the pool when it, its collections, cursors and sessions are gone. The corresponding C type is
/// `mongoc_client_t`.
package struct Client: ~Copyable {
    let lease: ClientLease

    /// The deployment's addresses, without user and password.
    package var host: String { lease.host }

    /// A collection of the deployment, whether it exists or not.
    package func collection(_ namespace: Namespace) -> MongoCollection {
        MongoCollection(namespace: namespace, lease: lease)
    }
}
