internal import BSON
internal import CMongoC

/// An error of the server, the network or the driver.
///
/// Neither the message nor the description contains a document's value or a secret: see ``message``.
package struct MongoError: Error, Hashable, Sendable {
    /// The part of the system that failed.
    package let domain: Domain
    /// The code of the failure.
    package let code: Code
    /// The server's name for the code, such as "NotWritablePrimary"; `nil` if it sent none.
    package let codeName: String?
    /// The server's error labels, such as "RetryableWriteError".
    package let labels: Set<String>
    /// The message of the server or the driver.
    ///
    /// Quoted documents and string values are removed.
    package let message: String
    /// The deployment's addresses, without user and password; `nil` if the error does not concern a connection.
    package let host: String?
    /// The privilege that the user lacks; `nil` if the server's message does not name it.
    package let missingPrivilege: Privilege?
    /// The number of documents that the write changed despite the error; `nil` if the reply does not show it.
    package let modified: Int?
    /// A lower bound for the number of documents that the write changed; `nil` if the reply does not contain it.
    ///
    /// A statement may update several documents, and the server may refuse one of them. The documents that such a
    /// statement changed before the refusal are not counted.
    package let modifiedAtLeast: Int?

    /// Creates an error; if `message` is the server's, this initializer removes quoted documents and values from it.
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
    /// The error as text: the message, the code and its name, and the deployment's addresses.
    package var description: String {
        let number = code.rawValue > 0 ? "code \(code.rawValue)" : ""
        let kind = [codeName, number.isEmpty ? nil : number].compactMap(\.self).joined(separator: ", ")
        return message + (kind.isEmpty ? "" : " (\(kind))") + (host.map { " [\($0)]" } ?? "")
    }
}

extension MongoError {
    /// The part of the system that failed.
    ///
    /// The numbers are those of libmongoc's `mongoc_error_domain_t`.
    package struct Domain: RawRepresentable, Hashable, Sendable {
        /// The number of the domain in libmongoc.
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        /// The domain of errors of the driver's client, such as those of a login or a handshake.
        package static let client = Domain(MONGOC_ERROR_CLIENT)
        package static let stream = Domain(MONGOC_ERROR_STREAM)
        package static let protocolViolation = Domain(MONGOC_ERROR_PROTOCOL)
        package static let cursor = Domain(MONGOC_ERROR_CURSOR)
        /// The domain of errors for bytes that the driver does not accept as BSON.
        package static let bson = Domain(MONGOC_ERROR_BSON)
        package static let sasl = Domain(MONGOC_ERROR_SASL)
        package static let scram = Domain(MONGOC_ERROR_SCRAM)
        package static let command = Domain(MONGOC_ERROR_COMMAND)
        package static let serverSelection = Domain(MONGOC_ERROR_SERVER_SELECTION)
        /// The domain of errors of a write that was done, but whose durability was not confirmed.
        package static let writeConcern = Domain(MONGOC_ERROR_WRITE_CONCERN)
        package static let server = Domain(MONGOC_ERROR_SERVER)

        private init(_ domain: mongoc_error_domain_t) { self.init(rawValue: UInt32(domain.rawValue)) }

        /// Whether the code and the message come from the server.
        var isServer: Bool { self == .server || self == .writeConcern }
    }
}

extension MongoError {
    /// Creates an error from the driver's error and, if the server replied, from the code's name and the error labels
    /// in the reply.
    init(_ error: bson_error_t, reply: BSONDocument? = nil, host: String? = nil) {
        let domain = Domain(rawValue: error.domain)
        let number = Int(error.code)
        self.init(
            domain, Code(rawValue: domain.isServer ? number : -number), message: Self.sentence(for: error.text),
            codeName: reply?.errorDetail["codeName"]?.text, labels: reply?.errorLabels ?? [], host: host,
            modified: reply?.modified, modifiedAtLeast: reply?.modifiedAtLeast)
    }

    /// Returns a sentence in place of the driver's message about a command without a reply, and any other message.
    private static func sentence(for message: String) -> String {
        guard message.hasSuffix("socket error or timeout") else { return message }
        let command = message.wholeMatch(of: /Failed to send "(\w+)" command with .*/).map { " the command \($0.1)" }
        return "the server did not answer\(command ?? ""), or the connection to it broke"
    }

    /// Creates the error for a reply with `ok: 1` that contains a write concern error; `nil` if it contains none.
    ///
    /// If the reply also contains errors of single statements, the initializer uses the first of these errors, because
    /// the write of that statement was not done. A write concern error alone means that the write was done.
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

    /// Creates the error of a command from the error of one of its statements.
    init(_ error: WriteError, labels: Set<String>, host: String?) {
        self.init(.server, error.code, message: error.message, labels: labels, host: host)
    }

    /// Creates the error of a command from its reply and the error of one of its statements.
    init(_ error: WriteError, of reply: BSONDocument, host: String? = nil) {
        self.init(
            .server, error.code, message: error.message, labels: reply.errorLabels, host: host,
            modified: reply.modified,
            modifiedAtLeast: reply.modifiedAtLeast)
    }

    /// Creates the error for a reply, or a document of a cursor, whose bytes are not BSON.
    init(damaged error: BSONError, host: String?) {
        self.init(.protocolViolation, .invalidReply, message: "the server sent damaged BSON: \(error)", host: host)
    }

    /// Creates the error for a reply without a part that the command promises.
    init(incomplete what: String, host: String?) {
        self.init(.protocolViolation, .invalidReply, message: "the server's reply lacks \(what)", host: host)
    }
}

extension MongoError {
    /// Whether the message might quote a value of a document, judged by the code of the server's error.
    ///
    /// If an expression fails because of a document's value, the code is above 10,000, or it is one of the codes for a
    /// wrong argument. Some known codes are excluded, because their messages quote no value of an expression.
    var mayQuoteValues: Bool {
        domain == .server && !Self.ofCommands.contains(code)
            && (code.rawValue > 10_000 || [.badValue, .failedToParse, Code(rawValue: 14)].contains(code))
    }

    private static let ofCommands: Set<Code> = [
        .unknownStage, .unknownOption, .changeStreamsUnsupported, .duplicateKey, .notWritablePrimary,
        .interruptedAtShutdown, .interrupted, .interruptedDueToReplStateChange, .notPrimaryNoSecondaryOk,
        .notPrimaryOrSecondary, .documentTooLarge, .outOfDiskSpace,
    ]

    /// This error, with a message that contains no values.
    var withoutValues: MongoError {
        MongoError(
            domain, code, message: Redaction.valueMessage(message), codeName: codeName, labels: labels, host: host,
            modified: modified, modifiedAtLeast: modifiedAtLeast)
    }
}

extension BSONDocument {
    /// The error labels of a reply and of its write concern error.
    var errorLabels: Set<String> {
        let own = self["errorLabels"]?.document?.values.compactMap(\.text) ?? []
        let nested = writeConcernError?["errorLabels"]?.document?.values.compactMap(\.text) ?? []
        return Set(own + nested)
    }

    /// The write concern error in a command's reply, or the first one in a bulk write's reply; `nil` if there is none.
    var writeConcernError: BSONDocument? {
        self["writeConcernError"]?.document ?? self["writeConcernErrors"]?.document?.values.first?.document
    }

    /// The number of documents that a write command changed, from its reply; `nil` if the reply does not contain it.
    ///
    /// The value is also `nil` if the server refused a statement, because the number in the reply may then be too low.
    var modified: Int? { self["writeErrors"] == nil ? self["nModified"]?.integer : nil }

    /// A lower bound for the number of documents that the write changed; `nil` if the reply does not contain it.
    ///
    /// Documents that a statement changed before it failed are not counted.
    var modifiedAtLeast: Int? { self["nModified"]?.integer }

    /// The document that has the `codeName`: the reply itself or, if the reply has none, its write concern error.
    ///
    /// The result is also the reply itself if it has neither.
    fileprivate var errorDetail: BSONDocument { self["codeName"] == nil ? writeConcernError ?? self : self }
}

extension bson_error_t {
    fileprivate var text: String {
        unsafe withUnsafeBytes(of: message) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
