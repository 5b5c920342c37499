internal import BSON
internal import CMongoC

extension ClientLease {
    /// The error, with the reason when no server was found.
    ///
    /// The driver's pool only knows that its watching threads failed to connect; a client without such threads says
    /// why: refused, timed out, no such host, a handshake. So one is asked once, for a quarter of the search's time.
    func explained(_ error: MongoError) -> MongoError {
        guard error.isServerSelection, let met = probe() else { return error }
        var reason = met.bracketed ?? met
        if let name = pool.replicaSet, met.bracketed == nil {
            // A member of another set is passed over without a word.
            reason = "none of the addresses is a member of a replica set \"\(name)\""
        }
        // With encryption on, the pool's own reason is the one that names the handshake.
        let own = error.message.bracketed ?? error.message
        if pool.isEncrypted && own != reason { reason += "; " + own }
        return MongoError(
            error.domain, error.code,
            message: "no server that fits was found in time: \(reason)", host: error.host)
    }

    /// What a new connection meets; `nil` when nothing is wrong with it.
    private func probe() -> String? {
        guard let uri = unsafe mongoc_uri_copy(mongoc_client_get_uri(handle)) else { return nil }
        defer { unsafe mongoc_uri_destroy(uri) }
        let timeout = (pool.searchTime / 4).driverMilliseconds
        unsafe mongoc_uri_set_option_as_int32(uri, MONGOC_URI_CONNECTTIMEOUTMS, timeout)
        var error = bson_error_t()
        guard let client = unsafe mongoc_client_new_from_uri_with_error(uri, &error) else { return nil }
        defer { unsafe mongoc_client_destroy(client) }
        unsafe mongoc_client_set_error_api(client, MONGOC_ERROR_API_VERSION_2)
        guard let server = unsafe mongoc_client_select_server(client, true, nil, &error) else {
            return MongoError(error).message
        }
        unsafe mongoc_server_description_destroy(server)
        return nil
    }
}

extension String {
    /// What stands between the first `[` and the last `]`, where the driver lists each server's failure; `nil` where
    /// there are none.
    fileprivate var bracketed: String? {
        guard let start = firstIndex(of: "["), let end = lastIndex(of: "]"), start < end else { return nil }
        return String(self[index(after: start)..<end])
    }
}
