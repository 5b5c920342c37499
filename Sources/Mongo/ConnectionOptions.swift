internal import CMongoC

/// The settings of a connection to a deployment.
///
/// A field that is set overrides the connection string. A field that is `nil` leaves the string's value, or the default
/// if the string has none.
package struct ConnectionOptions: Sendable {
    package var uri: String
    /// The longest time to find a server, connect to it and, after a failure, find the reason; 10 seconds by default.
    ///
    /// Four fifths of the time are for the search for a server (`serverSelectionTimeoutMS`), and the last fifth is for
    /// the reason of a failure. Each connection may take three quarters of the time of the search (`connectTimeoutMS`).
    package var connectTimeout: Duration?
    /// The longest silence of a server that is working on a command; libmongoc's default is 5 minutes.
    package var socketTimeout: Duration?
    /// The name that the server's logs and `currentOp` show; "shipshape" by default.
    package var appName: String?
    /// The members that answer reads; the primary by default.
    package var readPreference: ReadPreference?
    /// The read concern, which defines the data that reads see; `nil` leaves it to the connection string, then to the
    /// server.
    package var readConcern: ReadConcern?
    /// The write concern, which defines when the server acknowledges a write; `nil` leaves it to the connection string,
    /// then to the server.
    package var writeConcern: WriteConcern?
    /// The encryption of the connection; `nil` leaves it to the connection string.
    package var tls: TLSOptions?
    /// The password of the client's private key, if the key is encrypted.
    package var keyPassword: String?
    package var username: String?
    package var password: String?
    /// The database that stores the user; by default, the one that the connection string names, or else "admin".
    package var authSource: String?
    /// The compressors to offer, such as "zstd", "zlib" and "snappy"; none by default.
    ///
    /// The driver uses the first one that the server supports.
    package var compressors: [String]?
    /// The most clients in a pool, and so the most threads that use it at once.
    ///
    /// With `nil`, the value of the connection string applies, raised to at least 40; if the string sets none, the
    /// limit is 100.
    package var maxPoolSize: Int?

    /// Creates options that leave everything to the connection string and the defaults.
    package init(uri: String) { self.uri = uri }
}

extension ConnectionOptions {
    package static let defaultConnectTimeout: Duration = .seconds(10)
    /// The interval between two checks of a server, unless the connection string sets it.
    package static let heartbeat: Duration = .seconds(1)
    package static let defaultAppName = "shipshape"

    /// The settings for the encryption of a connection.
    package struct TLSOptions: Hashable, Sendable {
        /// Whether the connection is encrypted.
        package var isEnabled = true
        /// A PEM file of the trusted certificate authorities; the system's by default.
        package var caFile: String?
        /// A PEM file of the client's certificate and key.
        package var certificateKeyFile: String?
        /// Whether a server's certificate is accepted even if it cannot be verified.
        package var allowsInvalidCertificates = false
        /// Whether a server's certificate is accepted even if it was issued for another host.
        package var allowsInvalidHostnames = false

        /// Creates options for encryption with the system's certificate authorities.
        package init() {}
    }
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
    /// Returns the parsed connection string, with these options applied to it.
    /// - Throws: ``MongoError`` for a string or an option that is not valid, and for a file that cannot be read.
    package func resolved() throws(MongoError) -> MongoURI {
        let resolved = try MongoURI.parse(uri)
        try applyTimeouts(to: resolved)
        try applyName(to: resolved)
        try applyLogin(to: resolved)
        try applyTLS(to: resolved)
        // The password is set only if there is a key file, because the option for the password turns encryption on.
        if let keyPassword, resolved.has(MONGOC_URI_TLSCERTIFICATEKEYFILE) {
            try resolved.set(MONGOC_URI_TLSCERTIFICATEKEYFILEPASSWORD, to: keyPassword)
        }
        try applyReadAndWriteConcern(to: resolved)
        try applyTransport(to: resolved)
        try resolved.checkLogin()
        try resolved.checkTLS()
        return resolved
    }

    private func applyTimeouts(to uri: borrowing MongoURI) throws(MongoError) {
        if connectTimeout != nil || !uri.has(MONGOC_URI_SERVERSELECTIONTIMEOUTMS) {
            let search = (connectTimeout ?? Self.defaultConnectTimeout) * 4 / 5
            try uri.set(MONGOC_URI_SERVERSELECTIONTIMEOUTMS, to: search.driverMilliseconds)
        }
        if connectTimeout != nil || !uri.has(MONGOC_URI_CONNECTTIMEOUTMS) {
            try uri.set(MONGOC_URI_CONNECTTIMEOUTMS, to: (uri.serverSelectionTimeout * 3 / 4).driverMilliseconds)
        }
        // After a server refuses a command as if it were shutting down, the driver checks the server again only at the
        // next heartbeat. With the driver's default of 10 seconds, the search for a server would end before that check.
        if !uri.has(MONGOC_URI_HEARTBEATFREQUENCYMS) {
            try uri.set(MONGOC_URI_HEARTBEATFREQUENCYMS, to: Self.heartbeat.driverMilliseconds)
        }
        if let socketTimeout { try uri.set(MONGOC_URI_SOCKETTIMEOUTMS, to: socketTimeout.driverMilliseconds) }
    }

    private func applyName(to uri: borrowing MongoURI) throws(MongoError) {
        guard appName != nil || !uri.has(MONGOC_URI_APPNAME) else { return }
        guard unsafe mongoc_uri_set_appname(uri.handle, appName ?? Self.defaultAppName) else {
            throw .refused(MONGOC_URI_APPNAME)
        }
    }

    private func applyLogin(to uri: borrowing MongoURI) throws(MongoError) {
        if let username, unsafe !mongoc_uri_set_username(uri.handle, username) { throw .refused("username") }
        if let password, unsafe !mongoc_uri_set_password(uri.handle, password) { throw .refused("password") }
        if let authSource, unsafe !mongoc_uri_set_auth_source(uri.handle, authSource) {
            throw .refused(MONGOC_URI_AUTHSOURCE)
        }
    }

    private func applyTLS(to uri: borrowing MongoURI) throws(MongoError) {
        guard let tls else { return }
        try uri.set(MONGOC_URI_TLS, to: tls.isEnabled)
        guard tls.isEnabled else { return }
        if let file = tls.caFile { try uri.set(MONGOC_URI_TLSCAFILE, to: file) }
        if let file = tls.certificateKeyFile { try uri.set(MONGOC_URI_TLSCERTIFICATEKEYFILE, to: file) }
        if tls.allowsInvalidCertificates { try uri.set(MONGOC_URI_TLSALLOWINVALIDCERTIFICATES, to: true) }
        if tls.allowsInvalidHostnames { try uri.set(MONGOC_URI_TLSALLOWINVALIDHOSTNAMES, to: true) }
    }

    private func applyReadAndWriteConcern(to uri: borrowing MongoURI) throws(MongoError) {
        if let readPreference { uri.set(readPreference) }
        if let readConcern { uri.set(readConcern) }
        if let writeConcern { uri.set(writeConcern) }
    }

    /// The least `maxPoolSize` of a connection string; a lower value is raised to it.
    ///
    /// The run of a job uses fewer clients than this at once, including the clients for its threads, the state
    /// database, the server's metrics and the ledger.
    private static let leastPool: Int32 = 40

    private func applyTransport(to uri: borrowing MongoURI) throws(MongoError) {
        if let maxPoolSize {
            try uri.set(MONGOC_URI_MAXPOOLSIZE, to: Int32(clamping: max(1, maxPoolSize)))
        } else if unsafe mongoc_uri_get_option_as_int32(uri.handle, MONGOC_URI_MAXPOOLSIZE, Self.leastPool)
            < Self.leastPool
        {
            // In a smaller pool, a run could wait forever for a client, because it would hold all the others itself.
            try uri.set(MONGOC_URI_MAXPOOLSIZE, to: Self.leastPool)
        }
        guard let compressors else { return }
        let list = compressors.joined(separator: ",")
        guard unsafe mongoc_uri_set_compressors(uri.handle, list) else { throw .refused(MONGOC_URI_COMPRESSORS) }
    }
}
