internal import CMongoC

/// What the server, the network or the driver refused.
///
/// Neither the message nor the description holds a document's value or a secret: see ``message``.
package struct MongoError: Error, Hashable, Sendable {
    /// The side that failed.
    package let domain: Domain
    /// What failed.
    package let code: Code
    /// The server's name for the code, such as "NotWritablePrimary"; `nil` when it gave none.
    package let codeName: String?
    /// The server's error labels, such as "RetryableWriteError".
    package let labels: Set<String>
    /// What the server or the driver said.
    ///
    /// Quoted documents and string values are cut.
    package let message: String
    /// The deployment's addresses, without user and password; `nil` when no connection was meant.
    package let host: String?
    /// What the user lacks; `nil` where the server's message does not tell.
    package let missingPrivilege: Privilege?
    /// Documents that the write had changed all the same; `nil` where the reply does not tell.
    package let modified: Int?
    /// The same, without what an update of several documents had changed before one of them was refused.
    package let modifiedAtLeast: Int?

    /// Makes an error; `message` is redacted here.
    package init(
        _ domain: Domain, _ code: Code, message: String, codeName: String? = nil, labels: Set<String> = [],
        host: String? = nil, modified: Int? = nil, modifiedAtLeast: Int? = nil
    ) {
        self.domain = domain
        self.code = code
        self.codeName = codeName
        self.labels = labels
        self.message =
            code == .conversionFailure || domain.isServer && Redaction.isOfEvaluation(message)
            ? Redaction.valueMessage(message) : domain.isServer ? Redaction.serverMessage(message) : message
        missingPrivilege = code == .unauthorized ? Privilege(refusal: message) : nil
        self.host = host
        self.modified = modified
        self.modifiedAtLeast = modifiedAtLeast
    }
}

extension MongoError: CustomStringConvertible {
    /// The message, the code and its name, and the deployment's addresses.
    package var description: String {
        let number = code.rawValue > 0 ? "code \(code.rawValue)" : ""
        let kind = [codeName, number.isEmpty ? nil : number].compactMap(\.self).joined(separator: ", ")
        return message + (kind.isEmpty ? "" : " (\(kind))") + (host.map { " [\($0)]" } ?? "")
    }
}

extension MongoError {
    /// The side that failed.
    ///
    /// Open: the numbers are libmongoc's `mongoc_error_domain_t`.
    package struct Domain: RawRepresentable, Hashable, Sendable {
        /// libmongoc's number.
        package let rawValue: UInt32
        /// Wraps a number.
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        /// The driver's client: a login, a handshake.
        package static let client = Domain(MONGOC_ERROR_CLIENT)
        /// The network.
        package static let stream = Domain(MONGOC_ERROR_STREAM)
        /// A reply that is not what it should be.
        package static let protocolViolation = Domain(MONGOC_ERROR_PROTOCOL)
        /// A cursor that the driver refuses.
        package static let cursor = Domain(MONGOC_ERROR_CURSOR)
        /// Bytes that the driver does not take as BSON.
        package static let bson = Domain(MONGOC_ERROR_BSON)
        /// The login by SASL.
        package static let sasl = Domain(MONGOC_ERROR_SASL)
        /// The login by password.
        package static let scram = Domain(MONGOC_ERROR_SCRAM)
        /// A command that the driver refuses, or a connection string.
        package static let command = Domain(MONGOC_ERROR_COMMAND)
        /// No server that fits was found in time.
        package static let serverSelection = Domain(MONGOC_ERROR_SERVER_SELECTION)
        /// The write was done, and its durability not confirmed.
        package static let writeConcern = Domain(MONGOC_ERROR_WRITE_CONCERN)
        /// The server.
        package static let server = Domain(MONGOC_ERROR_SERVER)

        private init(_ domain: mongoc_error_domain_t) { self.init(rawValue: UInt32(domain.rawValue)) }

        /// Whether the code and the message are the server's.
        var isServer: Bool { self == .server || self == .writeConcern }
    }
}
