internal import CCrypto
internal import CMongoC
internal import Glibc

extension MongoURI {
    /// Refuses a user without a password where the login needs one: the driver crashes on it.
    func checkLogin() throws(MongoError) {
        guard let username, !username.isEmpty else { return }
        let mechanism = unsafe mongoc_uri_get_auth_mechanism(handle).map { unsafe String(cString: $0) }
        // These prove who one is by other means.
        if let mechanism, ["MONGODB-X509", "GSSAPI", "MONGODB-AWS"].contains(mechanism.uppercased()) { return }
        let password = unsafe mongoc_uri_get_password(handle).map { unsafe String(cString: $0) } ?? ""
        guard password.isEmpty else { return }
        throw MongoError(
            .command, .passwordMissing, message: "the user \"\(username)\" has no password", host: address)
    }

    /// Refuses files that can never work: the driver would only say that the handshake failed, and for an encrypted key
    /// without a password it would ask the terminal.
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

    /// The files that a connection string names; the string need not be valid, and nothing is connected.
    package static func files(namedIn text: String) -> [String] {
        URIText(text).files.map { name in
            guard let plain = unsafe mongoc_uri_unescape(name) else { return name }
            defer { unsafe bson_free(plain) }
            return unsafe String(cString: plain)
        }
    }

    /// The options of the string that leave a server unverified, by name; empty where every server proves who it is.
    package var weaknesses: [String] {
        let names = [
            (MONGOC_URI_TLSINSECURE, "tlsInsecure"),
            (MONGOC_URI_TLSALLOWINVALIDCERTIFICATES, "tlsAllowInvalidCertificates"),
            (MONGOC_URI_TLSALLOWINVALIDHOSTNAMES, "tlsAllowInvalidHostnames"),
        ]
        return isEncrypted
            ? names.compactMap { unsafe mongoc_uri_get_option_as_bool(handle, $0, false) ? $1 : nil } : []
    }

    private var address: String { hosts.joined(separator: ",") }

    private func text(_ option: String) -> String? {
        unsafe mongoc_uri_get_option_as_utf8(handle, option, nil).map { unsafe String(cString: $0) }
    }

    private static func checkReadable(_ path: String, _ what: String) throws(MongoError) {
        guard unsafe access(path, R_OK) == 0 else { throw .unusable(what, unsafe String(cString: strerror(errno))) }
    }
}

extension MongoError {
    fileprivate static func unusable(_ what: String, _ reason: String) -> MongoError {
        MongoError(.command, .invalidArgument, message: "\(what): \(reason)")
    }
}
