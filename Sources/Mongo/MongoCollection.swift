package import BSON

/// A collection as one client sees it: a light value, bound to that client's thread.
package struct MongoCollection {
    /// Its database and name.
    package let namespace: Namespace
    let lease: ClientLease
}

@available(*, unavailable)
extension MongoCollection: Sendable {}  // mongoc_client_t: one thread at a time
