internal import BSON
internal import CMongoC

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
