internal import BSON
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

extension MongoError {
    /// Reads the driver's error, and the codes and labels of the reply where the server gave one.
    init(_ error: bson_error_t, reply: BSONDocument? = nil, host: String? = nil) {
        let domain = Domain(rawValue: error.domain)
        let number = Int(error.code)
        self.init(
            domain, Code(rawValue: domain.isServer ? number : -number), message: error.text,
            codeName: reply?.errorDetail["codeName"]?.text, labels: reply?.errorLabels ?? [], host: host,
            modified: reply?.modified, modifiedAtLeast: reply?.modifiedAtLeast)
    }

    /// The write concern error of a reply that is `ok: 1`; `nil` when it has none.
    ///
    /// Where statements were refused too, it is the first refusal: the error must not read as "the write was done".
    init?(writeConcernErrorOf reply: BSONDocument, host: String?) {
        guard let detail = reply.writeConcernError, let code = detail["code"]?.integer else { return nil }
        if let refused = WriteError.all(of: reply).first {
            self.init(refused, of: reply, host: host)
            return
        }
        self.init(
            .writeConcern, Code(rawValue: code), message: detail["errmsg"]?.text ?? "write concern error",
            codeName: detail["codeName"]?.text, labels: reply.errorLabels, host: host, modified: reply.modified,
            modifiedAtLeast: reply.modifiedAtLeast)
    }

    /// One write's error, as an error of the whole.
    init(_ error: WriteError, labels: Set<String>, host: String?) {
        self.init(.server, error.code, message: error.message, labels: labels, host: host)
    }

    /// One write's error, as that of the whole reply.
    init(_ error: WriteError, of reply: BSONDocument, host: String? = nil) {
        self.init(
            .server, error.code, message: error.message, labels: reply.errorLabels, host: host,
            modified: reply.modified,
            modifiedAtLeast: reply.modifiedAtLeast)
    }

    /// A reply, or a document of a cursor, whose bytes are no BSON.
    init(damaged error: BSONError, host: String?) {
        self.init(.protocolViolation, .invalidReply, message: "the server sent damaged BSON: \(error)", host: host)
    }

    /// A reply that lacks what its command promises.
    init(incomplete what: String, host: String?) {
        self.init(.protocolViolation, .invalidReply, message: "the server's reply lacks \(what)", host: host)
    }
}

extension MongoError {
    /// Whether the server may have met the error at a value, by its code: an expression's errors have numbers of their own, or
    /// the codes of a wrong argument.
    var mayQuoteValues: Bool {
        domain == .server && !Self.ofCommands.contains(code)
            && (code.rawValue > 10_000 || [.badValue, .failedToParse, Code(rawValue: 14)].contains(code))
    }

    private static let ofCommands: Set<Code> = [
        .unknownStage, .unknownOption, .changeStreamsUnsupported, .duplicateKey, .notWritablePrimary,
        .interruptedAtShutdown, .interrupted, .interruptedDueToReplStateChange, .notPrimaryNoSecondaryOk,
        .notPrimaryOrSecondary, .documentTooLarge, .outOfDiskSpace,
    ]

    /// The same error, with a message that holds no value.
    var withoutValues: MongoError {
        MongoError(
            domain, code, message: Redaction.valueMessage(message), codeName: codeName, labels: labels, host: host,
            modified: modified, modifiedAtLeast: modifiedAtLeast)
    }
}

extension BSONDocument {
    /// The labels of a reply, and those of its write concern error.
    var errorLabels: Set<String> {
        let own = self["errorLabels"]?.document?.values.compactMap(\.text) ?? []
        let nested = writeConcernError?["errorLabels"]?.document?.values.compactMap(\.text) ?? []
        return Set(own + nested)
    }

    /// The write concern error: of a command, or the first of a bulk.
    var writeConcernError: BSONDocument? {
        self["writeConcernError"]?.document ?? self["writeConcernErrors"]?.document?.values.first?.document
    }

    /// How many documents the write of this reply changed; `nil` where it does not tell, as of an update that was refused
    /// in its midst.
    var modified: Int? { self["writeErrors"] == nil ? self["nModified"]?.integer : nil }

    /// The sum of what whole statements changed.
    var modifiedAtLeast: Int? { self["nModified"]?.integer }

    /// Where the code's name stands.
    fileprivate var errorDetail: BSONDocument { self["codeName"] == nil ? writeConcernError ?? self : self }
}

extension bson_error_t {
    /// The message up to its NUL.
    fileprivate var text: String {
        unsafe withUnsafeBytes(of: message) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
