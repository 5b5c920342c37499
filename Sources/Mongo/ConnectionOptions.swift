/// How to reach a deployment.
///
/// A field that is set wins over the connection string; one that is `nil` leaves what the string says, and where the
/// string says nothing, the default stands.
package struct ConnectionOptions: Sendable {
    /// The connection string.
    package var uri: String
    /// The time to find a server and connect to it, after which an error says why it failed; 10 seconds by default.
    ///
    /// Four fifths of it go to the search (`serverSelectionTimeoutMS`), with three quarters of that for one connection
    /// (`connectTimeoutMS`), and the rest to find the reason when it was in vain.
    package var connectTimeout: Duration?
    /// The longest silence of a server that is working on a command; libmongoc's default is 5 minutes.
    package var socketTimeout: Duration?
    /// The name that the server's logs and `currentOp` show; "shipshape" by default.
    package var appName: String?
    /// Which members answer reads; the primary by default.
    package var readPreference: ReadPreference?
    /// Which data reads see; the server's default by default.
    package var readConcern: ReadConcern?
    /// When writes count as done; the server's default by default.
    package var writeConcern: WriteConcern?
    /// Encryption of the connection.
    package var tls: TLSOptions?
    /// The password of the client's encrypted key.
    package var keyPassword: String?
    /// The user.
    package var username: String?
    /// The password.
    package var password: String?
    /// The database that knows the user; "admin" by default.
    package var authSource: String?
    /// Compression of the connection, the first that the server knows too: "zstd", "zlib", "snappy"; none by default.
    package var compressors: [String]?
    /// The clients that a pool may hold, which is also the number of threads that work at once; 100 by default.
    package var maxPoolSize: Int?

    /// Options that leave everything to the connection string and the defaults.
    package init(uri: String) { self.uri = uri }
}

extension ConnectionOptions {
    /// The default of ``connectTimeout``.
    package static let defaultConnectTimeout: Duration = .seconds(10)
    /// How often a server is looked at, unless the connection string says it.
    package static let heartbeat: Duration = .seconds(1)
    /// The default of ``appName``.
    package static let defaultAppName = "shipshape"

    /// Encryption of the connection.
    package struct TLSOptions: Hashable, Sendable {
        /// Whether it is on.
        package var isEnabled = true
        /// A PEM file of the authorities to believe; the system's by default.
        package var caFile: String?
        /// A PEM file of the client's certificate and key.
        package var certificateKeyFile: String?
        /// Whether a server's certificate that cannot be verified is taken all the same.
        package var allowsInvalidCertificates = false
        /// Whether a certificate of another host is taken all the same.
        package var allowsInvalidHostnames = false

        /// Encryption with the system's authorities.
        package init() {}
    }
}

extension ConnectionOptions: CustomStringConvertible, CustomReflectable {
    /// The connection string without its secrets.
    package var description: String {
        do { return try MongoURI.parse(uri).redacted } catch { return error.message }
    }

    /// Shows the description only, so that no dump shows the password.
    package var customMirror: Mirror { Mirror(self, children: ["uri": description]) }
}
