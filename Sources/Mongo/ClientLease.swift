internal import BSON
internal import CMongoC

/// A client borrowed from a pool; it returns to the pool when the last object that uses it, such as a cursor, is
/// destroyed.
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

    /// Counts a new handle of the driver, such as a cursor.
    func opened() {
        pool.handles.add()
    }

    /// Removes a destroyed handle of the driver from the count.
    func closed() {
        pool.handles.remove()
    }
}

@available(*, unavailable)
extension ClientLease: Sendable {}  // not Sendable, because only one thread at a time can use a mongoc_client_t

extension ClientLease {
    /// Returns the error with a better message.
    ///
    /// If a server older than 5.0 may have quoted values of documents in the message, the values are removed. If no
    /// server was found, the message says why, for example because the connection was refused, the host is unknown, or
    /// the handshake failed. The driver's pool does not report this reason, so the method creates a client without
    /// monitoring threads. That client tries to connect for a quarter of ``ClientPool/searchTime``, and reports the
    /// reason.
    func explained(_ error: MongoError) -> MongoError {
        if error.mayQuoteValues, hasOldServer { return error.withoutValues }
        guard error.isServerSelection, var reason = connectionFailure() else { return error }
        // On an encrypted connection, the pool may report a failed handshake that `connectionFailure()` does not find,
        // so the pool's message is added.
        let own = error.message.bracketed ?? error.message
        if pool.isEncrypted && !reason.contains(own) { reason += "; " + own }
        return MongoError(
            error.domain, error.code,
            message: "no suitable server was found in time: \(reason)", host: error.host)
    }

    /// Whether a server of the deployment is older than 5.0.
    ///
    /// The error messages of such a server may contain values of documents that are not marked as values.
    private var hasOldServer: Bool {
        let version = Int(unsafe cmongoc_oldest_wire_version(handle))
        return version > 0 && version < ServerHello.wireVersionOf50
    }

    /// Tries to connect with a new client, and returns the reason for the failure; `nil` if the client connects or
    /// cannot be created.
    private func connectionFailure() -> String? {
        guard let uri = unsafe mongoc_uri_copy(mongoc_client_get_uri(handle)) else { return nil }
        defer { unsafe mongoc_uri_destroy(uri) }
        let timeout = (pool.searchTime / 4).driverMilliseconds
        unsafe mongoc_uri_set_option_as_int32(uri, MONGOC_URI_CONNECTTIMEOUTMS, timeout)
        var error = bson_error_t()
        guard let client = unsafe mongoc_client_new_from_uri_with_error(uri, &error) else { return nil }
        defer { unsafe mongoc_client_destroy(client) }
        unsafe mongoc_client_set_error_api(client, MONGOC_ERROR_API_VERSION_2)
        guard let server = unsafe mongoc_client_select_server(client, true, nil, &error) else {
            let message = MongoError(error).message
            return unsafe message.bracketed ?? silentReason(client) ?? message
        }
        unsafe mongoc_server_description_destroy(server)
        return nil
    }

    /// Returns the reason why the servers that answered cannot be used; `nil` if no reason is known.
    ///
    /// The driver's own error does not mention servers that answered but cannot be used.
    private func silentReason(_ client: OpaquePointer) -> String? {
        var count = 0
        // The list is `nil` if no server is known.
        let known = unsafe mongoc_client_get_server_descriptions(client, &count)
        defer { if let known = unsafe known { unsafe mongoc_server_descriptions_destroy_all(known, count) } }
        let kinds = (0..<count).compactMap { index in
            unsafe known?[index].map { unsafe String(cString: mongoc_server_description_type($0)) }
        }
        if kinds.contains("RSGhost") { return "the replica set is not initiated, or the member has no configuration" }
        if kinds.contains(where: { $0.hasPrefix("RS") }) {
            return kinds.contains("RSPrimary") ? nil : "the replica set has no primary"
        }
        return pool.replicaSet.map { "none of the addresses is a member of a replica set \"\($0)\"" }
    }
}

extension String {
    /// The text between the first `[` and the last `]`, where the driver lists each server's failure; `nil` without
    /// brackets.
    fileprivate var bracketed: String? {
        guard let start = firstIndex(of: "["), let end = lastIndex(of: "]"), start < end else { return nil }
        return String(self[index(after: start)..<end])
    }
}
