internal import CMongoC

/// A client while it is lent: whoever holds this, a cursor for example, keeps it from going back to its pool.
@safe
final class ClientLease {
    let handle: OpaquePointer
    let pool: ClientPool

    init(owning handle: OpaquePointer, of pool: ClientPool) {
        unsafe self.handle = handle
        self.pool = pool
        opened()
    }

    deinit {
        unsafe mongoc_client_pool_push(pool.handle, handle)
        closed()
    }

    var host: String { pool.host }

    /// Counts a handle in.
    func opened() {
        pool.handles.add()
    }

    /// Counts a handle out.
    func closed() {
        pool.handles.remove()
    }
}

@available(*, unavailable)
extension ClientLease: Sendable {}  // mongoc_client_t: one thread at a time
