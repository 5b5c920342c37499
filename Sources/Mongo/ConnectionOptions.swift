internal import CMongoC

/// The settings of a connection to a deployment.
///
/// A field that is set overrides the connection string. A field that is `nil` leaves the string's value, or the default
/// if the string has none.
package struct ConnectionOptions: Sendable {
    package var uri: String
    /// The longest silence of a server that is working on a command; libmongoc's default is 5 minutes.
    package var socketTimeout: Duration?
    /// The members that answer reads; the primary by default.
    package var readPreference: ReadPreference?
    /// The password of the client's private key, if the key is encrypted.
    package var keyPassword: String?
    package var username: String?
    package var password: String?

    /// Creates options that leave everything to the connection string and the defaults.
    package init(uri: String) { self.uri = uri }
}

extension ConnectionOptions: CustomStringConvertible, CustomReflectable {
    /// The connection string without its secrets.
    package var description: String {
        do { return try MongoURI.parse(uri).redacted } catch { return error.message }
    }

    /// Shows the description only, so that `dump(_:)` does not print the password.
    package var customMirror: Mirror { Mirror(self, children: ["uri": description]) }
}

extension ConnectionOptions {
    /// Returns the parsed connection string, with these options and our defaults applied to it.
    /// - Throws: ``MongoError`` for a string or an option that is not valid, and for a file that cannot be read.
    package func resolved() throws(MongoError) -> MongoURI {
        let resolved = try MongoURI.parse(uri)
        try applyTimeouts(to: resolved)
        if !resolved.has(MONGOC_URI_APPNAME), unsafe !mongoc_uri_set_appname(resolved.handle, "shipshape") {
            throw .refused(MONGOC_URI_APPNAME)
        }
        if let username, unsafe !mongoc_uri_set_username(resolved.handle, username) { throw .refused("username") }
        if let password, unsafe !mongoc_uri_set_password(resolved.handle, password) { throw .refused("password") }
        // The password is set only if there is a key file, because the option for the password turns encryption on.
        if let keyPassword, resolved.has(MONGOC_URI_TLSCERTIFICATEKEYFILE) {
            try resolved.set(MONGOC_URI_TLSCERTIFICATEKEYFILEPASSWORD, to: keyPassword)
        }
        if let readPreference { resolved.set(readPreference) }
        if resolved.integer(MONGOC_URI_MAXPOOLSIZE, fallback: Self.leastPool) < Self.leastPool {
            // In a smaller pool, a run could wait forever for a client, because it would hold all the others itself.
            try resolved.set(MONGOC_URI_MAXPOOLSIZE, to: Self.leastPool)
        }
        try resolved.checkLogin()
        try resolved.checkTLS()
        return resolved
    }

    /// The least `maxPoolSize` of a connection string; a lower value is raised to it.
    ///
    /// The run of a job uses fewer clients than this at once, including the clients for its threads, the state
    /// database, the server's metrics and the ledger.
    private static let leastPool: Int32 = 40

    private func applyTimeouts(to uri: borrowing MongoURI) throws(MongoError) {
        // After a failed search, two more seconds are for the reason.
        if !uri.has(MONGOC_URI_SERVERSELECTIONTIMEOUTMS) {
            try uri.set(MONGOC_URI_SERVERSELECTIONTIMEOUTMS, to: 8_000)
        }
        if !uri.has(MONGOC_URI_CONNECTTIMEOUTMS) {
            try uri.set(MONGOC_URI_CONNECTTIMEOUTMS, to: (uri.serverSelectionTimeout * 3 / 4).driverMilliseconds)
        }
        // After a server refuses a command as if it were shutting down, the driver checks the server again only at the
        // next heartbeat. With the driver's default of 10 seconds, the search for a server would end before that check.
        if !uri.has(MONGOC_URI_HEARTBEATFREQUENCYMS) { try uri.set(MONGOC_URI_HEARTBEATFREQUENCYMS, to: 1_000) }
        if let socketTimeout { try uri.set(MONGOC_URI_SOCKETTIMEOUTMS, to: socketTimeout.driverMilliseconds) }
    }
}

extension Duration {
    /// The duration in whole milliseconds for the driver; at least 1, because 0 means no limit to the driver.
    var driverMilliseconds: Int32 {
        let parts = components
        return max(1, Int32(clamping: parts.seconds * 1_000 + parts.attoseconds / 1_000_000_000_000_000))
    }
}
