internal import BSON
internal import CCrypto
internal import CMongoC
internal import Glibc

/// A parsed connection string.
///
/// The corresponding C type is `mongoc_uri_t`.
@safe
package struct MongoURI: ~Copyable {
    let handle: OpaquePointer

    private init(owning handle: OpaquePointer) { unsafe self.handle = handle }

    deinit { unsafe mongoc_uri_destroy(handle) }

    /// Parses `mongodb://…` or `mongodb+srv://…`; for `mongodb+srv`, asks the DNS for the addresses.
    /// - Throws: ``MongoError`` with the reason, never with the string itself.
    package static func parse(_ text: String) throws(MongoError) -> MongoURI {
        Driver.start()
        if let defect = URIText(text).defect { throw MongoError(invalidURI: defect) }
        var error = bson_error_t()
        guard let handle = unsafe mongoc_uri_new_with_error(text, &error) else {
            let message = MongoError(error).message
            let leaks = URIText(text).secrets.contains { message.contains($0) }
            throw MongoError(invalidURI: leaks || message.isEmpty ? "it is malformed" : message)
        }
        let uri = unsafe MongoURI(owning: handle)
        // The driver accepts any word as the level of the read concern. The server refuses an unknown level, but only
        // at the first command.
        let levels = ["local", "majority", "linearizable", "snapshot", "available"]
        if let level = uri.readConcernLevel, !levels.contains(level) {
            throw MongoError(invalidURI: "readConcernLevel must be one of \(levels.joined(separator: ", "))")
        }
        return uri
    }
}

extension MongoURI {
    /// The database that the string names; `nil` when it names none.
    package var database: String? { unsafe mongoc_uri_get_database(handle).map { unsafe String(cString: $0) } }

    /// The user; `nil` when the string names none.
    package var username: String? { unsafe mongoc_uri_get_username(handle).map { unsafe String(cString: $0) } }

    /// The replica set's name; `nil` when the string names none.
    package var replicaSet: String? { unsafe mongoc_uri_get_replica_set(handle).map { unsafe String(cString: $0) } }

    /// The addresses, as `host:port`; for a `mongodb+srv` string, only the host that it names.
    package var hosts: [String] {
        if let service = unsafe mongoc_uri_get_srv_hostname(handle) { return [unsafe String(cString: service)] }
        var hosts: [String] = []
        var entry = unsafe mongoc_uri_get_hosts(handle)
        while let host = unsafe entry {
            let address = unsafe host.pointee.host_and_port
            hosts.append(
                unsafe withUnsafeBytes(of: address) {
                    unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                })
            unsafe entry = UnsafePointer(host.pointee.next)
        }
        return hosts
    }

    /// The application's name; `nil` when the string names none.
    package var appName: String? { unsafe mongoc_uri_get_appname(handle).map { unsafe String(cString: $0) } }

    /// Whether connections are encrypted.
    package var isEncrypted: Bool { unsafe mongoc_uri_get_tls(handle) }

    /// The longest time for the search for a suitable server.
    package var serverSelectionTimeout: Duration {
        .milliseconds(integer(MONGOC_URI_SERVERSELECTIONTIMEOUTMS, fallback: 30_000))
    }

    /// The longest time for making one connection.
    package var connectTimeout: Duration { .milliseconds(integer(MONGOC_URI_CONNECTTIMEOUTMS, fallback: 10_000)) }

    /// Whether a connection string holds a password, or an option that may hold another secret.
    package static func holdsSecret(_ text: String) -> Bool { URIText(text).holdsSecret }

    /// The string with `***` for the password, and without its options, because they may contain other secrets.
    package var redacted: String {
        let scheme = unsafe mongoc_uri_get_srv_hostname(handle) == nil ? "mongodb" : "mongodb+srv"
        let hasPassword = unsafe mongoc_uri_get_password(handle) != nil
        let user = username.map { $0 + (hasPassword ? ":***" : "") + "@" } ?? ""
        return "\(scheme)://\(user)\(hosts.joined(separator: ","))/\(database ?? "")"
    }
}

extension MongoURI {
    /// Whether the connection string, or an earlier call of `set`, sets the option.
    func has(_ option: String) -> Bool { unsafe mongoc_uri_has_option(handle, option) }

    func integer(_ option: String, fallback: Int32) -> Int32 {
        unsafe mongoc_uri_get_option_as_int32(handle, option, fallback)
    }

    func set(_ option: String, to value: Int32) throws(MongoError) {
        guard unsafe mongoc_uri_set_option_as_int32(handle, option, value) else { throw .refused(option) }
    }

    func set(_ option: String, to value: String) throws(MongoError) {
        guard unsafe mongoc_uri_set_option_as_utf8(handle, option, value) else { throw .refused(option) }
    }
}

extension MongoError {
    init(invalidURI reason: String) {
        self.init(.command, .invalidArgument, message: "the connection string is not valid: \(reason)")
    }

    static func refused(_ option: String) -> MongoError {
        MongoError(.command, .invalidArgument, message: "the connection option \(option) has a value that is not valid")
    }
}

extension MongoURI {
    /// Throws an error if the login needs a password and the user has none, because the driver would crash.
    func checkLogin() throws(MongoError) {
        guard let username, !username.isEmpty else { return }
        let mechanism = unsafe mongoc_uri_get_auth_mechanism(handle).map { unsafe String(cString: $0) }
        // A login by one of these mechanisms needs no password.
        if let mechanism, ["MONGODB-X509", "GSSAPI", "MONGODB-AWS"].contains(mechanism.uppercased()) { return }
        let password = unsafe mongoc_uri_get_password(handle).map { unsafe String(cString: $0) } ?? ""
        guard password.isEmpty else { return }
        throw MongoError(
            .command, .passwordMissing, message: "the user \"\(username)\" has no password", host: address)
    }

    /// Throws an error if a TLS file cannot be read or lacks a usable certificate or key.
    ///
    /// The driver would only report a failed handshake, and ask on the terminal for the password of an encrypted key.
    func checkTLS() throws(MongoError) {
        guard isEncrypted else { return }
        if let file = text(MONGOC_URI_TLSCAFILE) {
            let what = "the file of TLS authorities, \(file)"
            try Self.checkReadable(file, what)
            guard unsafe ccrypto_has_certificate(file) else {
                throw .unusable(what, "it holds no certificate in PEM form")
            }
        }
        guard let file = text(MONGOC_URI_TLSCERTIFICATEKEYFILE) else { return }
        let what = "the file of the TLS certificate and key, \(file)"
        let password = text(MONGOC_URI_TLSCERTIFICATEKEYFILEPASSWORD)
        try Self.checkReadable(file, what)
        switch unsafe ccrypto_check_identity(file, password) {
        case CCRYPTO_PEM_GOOD: return
        case CCRYPTO_PEM_NO_CERTIFICATE: throw .unusable(what, "it holds no certificate in PEM form")
        case CCRYPTO_PEM_NO_PASSWORD:
            throw MongoError(.command, .keyPasswordMissing, message: "\(what): the key is encrypted")
        case CCRYPTO_PEM_WRONG_PASSWORD: throw .unusable(what, "the password does not open the key")
        case CCRYPTO_PEM_MISMATCH: throw .unusable(what, "the key is not that of the certificate")
        default: throw .unusable(what, "it holds no key in PEM form")
        }
    }

    /// Returns the paths of the files that a connection string names.
    ///
    /// The string need not be valid, and no connection is made.
    package static func files(namedIn text: String) -> [String] {
        URIText(text).files.map { name in
            guard let plain = unsafe mongoc_uri_unescape(name) else { return name }
            defer { unsafe bson_free(plain) }
            return unsafe String(cString: plain)
        }
    }

    /// The options that weaken the verification of a server's certificate, by their names in the connection string.
    ///
    /// The list is empty if connections are not encrypted.
    package var weaknesses: [String] {
        let names = [
            (MONGOC_URI_TLSINSECURE, "tlsInsecure"),
            (MONGOC_URI_TLSALLOWINVALIDCERTIFICATES, "tlsAllowInvalidCertificates"),
            (MONGOC_URI_TLSALLOWINVALIDHOSTNAMES, "tlsAllowInvalidHostnames"),
        ]
        return isEncrypted
            ? names.compactMap { unsafe mongoc_uri_get_option_as_bool(handle, $0, false) ? $1 : nil } : []
    }

    private var readConcernLevel: String? {
        unsafe mongoc_uri_get_read_concern(handle).flatMap { unsafe mongoc_read_concern_get_level($0) }
            .map { unsafe String(cString: $0) }
    }

    private var address: String { hosts.joined(separator: ",") }

    private func text(_ option: String) -> String? {
        unsafe mongoc_uri_get_option_as_utf8(handle, option, nil).map { unsafe String(cString: $0) }
    }

    private static func checkReadable(_ path: String, _ what: String) throws(MongoError) {
        guard unsafe access(path, R_OK) == 0 else { throw .unusable(what, unsafe String(cString: strerror(errno))) }
        // Opening a named pipe would wait for a writer without an end.
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .unusable(what, "it is not a file")
        }
    }
}

extension MongoError {
    fileprivate static func unusable(_ what: String, _ reason: String) -> MongoError {
        MongoError(.command, .invalidArgument, message: "\(what): \(reason)")
    }
}
