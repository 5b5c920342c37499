/// The kinds of errors, by what a caller can do about them.
extension MongoError {
    /// Whether the same operation may succeed when it is retried.
    ///
    /// Examples are an error of the network, a write conflict, a failover, and a server that shuts down or sheds load.
    /// A write that fails with such an error may have been done, completely or in part, so only an idempotent write may
    /// be repeated.
    package var isTransient: Bool {
        isOfConnection || isServerSelection || isOverload || Self.transientCodes.contains(code)
            || !labels.isDisjoint(with: [
                "RetryableWriteError", "TransientTransactionError", "ResumableChangeStreamError",
                "UnknownTransactionCommitResult",
            ])
    }

    /// Whether a scan that failed with this error can continue with a new cursor, after the last document that it read.
    ///
    /// This is the case if the error is transient, or if only the cursor was lost, for example at a time limit.
    package var isCursorLost: Bool {
        isTransient || isTimeLimit || code == .cursorNotFound || code == .cursorKilled || code == .queryPlanKilled
    }

    /// Whether the server refused the name of a database or a collection.
    package var isName: Bool { code == .invalidNamespace || code == .databaseDiffersInCase }

    /// Whether no suitable server was found in time; the message says why.
    package var isServerSelection: Bool { domain == .serverSelection }

    /// Whether an existing connection broke, or the server did not answer on it in time.
    package var isOfConnection: Bool { domain == .stream }

    /// Whether the server's certificate could not be verified.
    package var isUntrusted: Bool { message.contains("certificate verify failed") }

    /// Whether the server closed the connection instead of replying.
    ///
    /// A possible reason is that the server requires encryption, or does not accept the client's certificate.
    package var isHungUp: Bool {
        ["Server closed connection", "connection closed", "unknown socket error", "Failed to receive length header"]
            .contains(where: message.contains)
    }

    /// Whether the login was refused.
    package var isAuthentication: Bool {
        code == .authenticationFailed || code == .loginFailed || domain == .scram || domain == .sasl
    }

    /// Whether a connection can never succeed with the current settings: the connection string, an option or a file is
    /// not valid, or a password is missing.
    package var isConfiguration: Bool {
        (domain == .command || domain == .client)
            && [.invalidArgument, .passwordMissing, .keyPasswordMissing].contains(code)
    }

    /// Whether a privilege is missing: the user logged in without it, or the client did not log in at all.
    package var isAuthorization: Bool { code == .unauthorized }

    /// Whether the server ended the operation because a client, perhaps this one, asked it to.
    package var isInterruption: Bool {
        code == .interrupted || code == .cursorKilled || code == .clientMarkedKilled
            || code == .scriptFailure && message.contains("nterrupted")
    }

    /// Whether the server did the write, but the members that the write concern requires did not confirm it.
    package var isWriteConcern: Bool { domain == .writeConcern }

    /// Whether the driver refused a document with an empty field name in a cursor's options.
    ///
    /// In the options that we set, only an `_id` can contain an empty field name, so the error shows that an `_id`
    /// contains one.
    package var isFieldWithoutName: Bool { domain == .cursor && message.hasSuffix("empty key") }

    /// Whether the driver refuses to send a document, because it is too large for a command, or its names or strings
    /// are not UTF-8.
    package var isRefusedByDriver: Bool {
        code.rawValue < 0 && ([.command, .cursor, .bson].contains(domain) || code == .invalidArgument)
    }

    /// Whether the operation was ended because it exceeded its own time limit or a time limit of the server.
    package var isTimeLimit: Bool { code == .maxTimeMSExpired || code == .exceededTimeLimit }

    private static let transientCodes: Set<Code> = [
        .hostUnreachable, .hostNotFound, .networkTimeout, .shutdownInProgress, .primarySteppedDown, .exceededTimeLimit,
        .socketException, .notWritablePrimary, .interruptedAtShutdown, .interruptedDueToReplStateChange,
        .notPrimaryNoSecondaryOk, .notPrimaryOrSecondary, .writeConflict,
        .connect, .socket, .nameResolution,
    ]
}

extension MongoError {
    /// Whether the server may still be running the operation, or may still receive it.
    ///
    /// If the server itself replied with an error, the operation has ended. If a `mongos` reports that it could not
    /// reach a shard, the operation may still be running on that shard.
    package var mayBeUnderWay: Bool {
        isTransient && !isServerSelection && (domain != .server || Self.ofNetwork.contains(code))
    }

    private static let ofNetwork: Set<Code> = [.hostUnreachable, .hostNotFound, .networkTimeout, .socketException]

    /// Whether the server refused the command because of its load, and would accept the same command later.
    ///
    /// The error labels decide; for servers that send no labels, the codes decide. Source: the drivers' specification
    /// "client backpressure", and `src/mongo/base/error_codes.yml`.
    package var isOverload: Bool {
        labels.contains("SystemOverloadedError") || Self.overloadCodes.contains(code) && domain.isServer
    }

    /// Whether the server refused the command because of its load, and before it had begun the command.
    ///
    /// Even a write may then be sent again.
    var isRefusedUnbegun: Bool {
        isOverload && domain == .server
            && (labels.contains("RetryableError") || labels.isEmpty && Self.ingressCodes.contains(code))
    }

    private static let ingressCodes: Set<Code> = [
        .ingressRequestRateLimitExceeded, .ingressOperationRateLimitExceeded,
    ]

    private static let overloadCodes: Set<Code> = ingressCodes.union([
        .admissionQueueOverflow, .rateLimitExceeded, .pooledConnectionAcquisitionRejected, .interruptedDueToOverload,
    ])

    /// Whether a write failed because of one of its documents, so that it can be repeated without that document.
    ///
    /// A read that evaluates the write's expressions can fail in the same way. The result is `true` only for errors
    /// whose cause is known to be one document. Every other error ends the job, because the cause may be the
    /// collection, the command, the server or the runner.
    ///
    /// If the server cannot evaluate an expression for a value, the error's code is the number of an assertion in the
    /// server's source. There are thousands of such numbers, all above 10,000, so each of them counts as an error of
    /// one document.
    package var isOfOneDocument: Bool {
        guard domain == .server, !isTransient, !isCursorLost else { return false }
        return Self.ofDocuments.contains(code) || isAssertion || isOfScript
    }

    private static let ofDocuments: Set<Code> = [
        .badValue, .typeMismatch, .overflow, .invalidBSON, .pathNotViable, .conflictingUpdateOperators,
        .dollarPrefixedFieldName, .invalidIDField, .invalidDBRef, .emptyFieldName, .dottedFieldName, .immutableField,
        .documentValidationFailure, .cannotIndexParallelArrays, .conversionFailure, .documentTooLarge, .duplicateKey,
    ]

    /// Whether the code is the number of an assertion in the server's source, and not the code of a named error.
    private var isAssertion: Bool {
        code.rawValue > 10_000 && codeName?.hasPrefix("Location") ?? true && !Self.namedAbove10000.contains(code)
    }

    /// The codes above 10,000 that do not count as errors of one document.
    ///
    /// Most belong to named errors at the end of `error_codes.yml`. The list is needed because the error of a single
    /// statement does not include the code's name, which would distinguish a named error from an assertion. Two codes
    /// belong to assertions about the command: ``Code/unknownStage`` and ``Code/changeStreamsUnsupported``.
    private static let namedAbove10000: Set<Code> = Set(
        [
            10_003, 10_058, 10_107, 11_600, 11_601, 11_602, 12_586, 12_587, 13_104, 13_113, 13_297, 13_388, 13_435,
            13_436, 14_031, 28_769, 31_082, 40_324, 40_413, 40_414, 40_415, 40_573, 46_841, 50_768, 50_915, 56_846,
            57_986, 91_331, 640_570, 640_571, 1_003_141, 4_662_500, 4_938_500, 9_737_301, 9_751_901, 9_751_902,
            9_751_903, 10_045_600, 10_171_600,
        ].map(Code.init))

    /// Whether JavaScript that the user wrote, such as a `$function`, failed when the server ran it for a document.
    private var isOfScript: Bool {
        code == .unknownError && message.contains("uncaught exception")
            || code == .scriptFailure && !message.contains("SyntaxError")
    }
}

extension MongoError {
    /// The code of a failure.
    ///
    /// The server's codes are positive and unchanged. The driver's are the negative of libmongoc's
    /// `mongoc_error_code_t`, because the two sets of numbers overlap.
    package struct Code: RawRepresentable, Hashable, Sendable {
        /// The server's code, or the negative of the driver's code.
        package let rawValue: Int
        /// Creates a code, which need not be a known one.
        package init(rawValue: Int) { self.rawValue = rawValue }
    }
}

/// The server's error codes, from `src/mongo/base/error_codes.yml`.
extension MongoError.Code {
    /// The command does not accept a value or a combination of values.
    package static let badValue = Self(rawValue: 2)
    /// The error has no specific code, such as an exception that a script threw.
    package static let unknownError = Self(rawValue: 8)
    package static let typeMismatch = Self(rawValue: 14)
    /// A number is too large, or a document is nested too deep.
    package static let overflow = Self(rawValue: 15)
    package static let invalidBSON = Self(rawValue: 22)
    /// A path leads through a value that is not a document.
    package static let pathNotViable = Self(rawValue: 28)
    /// An update changes the same path twice.
    package static let conflictingUpdateOperators = Self(rawValue: 40)
    package static let dollarPrefixedFieldName = Self(rawValue: 52)
    package static let invalidIDField = Self(rawValue: 53)
    /// A `DBRef` lacks one of its fields, such as `$id`.
    package static let invalidDBRef = Self(rawValue: 55)
    package static let emptyFieldName = Self(rawValue: 56)
    package static let dottedFieldName = Self(rawValue: 57)
    package static let immutableField = Self(rawValue: 66)
    package static let scriptFailure = Self(rawValue: 139)
    /// A compound index would contain two arrays of one document.
    package static let cannotIndexParallelArrays = Self(rawValue: 171)
    /// Too many operations wait to be admitted.
    package static let admissionQueueOverflow = Self(rawValue: 433)
    /// The client sent more requests than a limit allows.
    package static let rateLimitExceeded = Self(rawValue: 449)
    /// Too many operations wait for a connection to another server.
    package static let pooledConnectionAcquisitionRejected = Self(rawValue: 450)
    /// The server received more requests than it accepts, and refused this one before it began.
    package static let ingressRequestRateLimitExceeded = Self(rawValue: 462)
    /// The server received more operations than it accepts, and refused this one before it began.
    package static let ingressOperationRateLimitExceeded = Self(rawValue: 463)
    package static let interruptedDueToOverload = Self(rawValue: 473)
    package static let failedToParse = Self(rawValue: 9)
    package static let hostUnreachable = Self(rawValue: 6)
    package static let hostNotFound = Self(rawValue: 7)
    package static let unauthorized = Self(rawValue: 13)
    package static let authenticationFailed = Self(rawValue: 18)
    package static let cursorNotFound = Self(rawValue: 43)
    package static let namespaceExists = Self(rawValue: 48)
    package static let maxTimeMSExpired = Self(rawValue: 50)
    package static let commandNotFound = Self(rawValue: 59)
    package static let writeConcernFailed = Self(rawValue: 64)
    package static let networkTimeout = Self(rawValue: 89)
    package static let shutdownInProgress = Self(rawValue: 91)
    /// Two writes conflicted; the failed one can be retried.
    package static let writeConflict = Self(rawValue: 112)
    package static let documentValidationFailure = Self(rawValue: 121)
    package static let commandNotSupportedOnView = Self(rawValue: 166)
    package static let primarySteppedDown = Self(rawValue: 189)
    /// The oplog no longer contains the position at which a change stream has to resume.
    package static let changeStreamHistoryLost = Self(rawValue: 286)
    package static let changeStreamFatal = Self(rawValue: 280)
    package static let invalidResumeToken = Self(rawValue: 260)
    /// A key does not exist, such as the record after which a collection scan was to resume.
    package static let keyNotFound = Self(rawValue: 211)
    /// The server no longer has the data of the point in time that a read requests.
    package static let snapshotTooOld = Self(rawValue: 239)
    /// The server does not yet have the data of the point in time that a read requests.
    package static let snapshotUnavailable = Self(rawValue: 246)
    package static let noSuchTransaction = Self(rawValue: 251)
    package static let transactionTooOld = Self(rawValue: 290)
    package static let cursorKilled = Self(rawValue: 237)
    package static let conversionFailure = Self(rawValue: 241)
    package static let exceededTimeLimit = Self(rawValue: 262)
    package static let queryPlanKilled = Self(rawValue: 175)
    package static let collectionUUIDMismatch = Self(rawValue: 361)
    package static let socketException = Self(rawValue: 9001)
    package static let notWritablePrimary = Self(rawValue: 10_107)
    package static let documentTooLarge = Self(rawValue: 10_334)
    package static let outOfDiskSpace = Self(rawValue: 14_031)
    package static let invalidNamespace = Self(rawValue: 73)
    package static let databaseDiffersInCase = Self(rawValue: 13_297)
    package static let duplicateKey = Self(rawValue: 11_000)
    package static let interruptedAtShutdown = Self(rawValue: 11_600)
    package static let clientMarkedKilled = Self(rawValue: 46_841)
    package static let interrupted = Self(rawValue: 11_601)
    /// The member changed its state and ended the operation.
    package static let interruptedDueToReplStateChange = Self(rawValue: 11_602)
    /// The member is not the primary, and the client did not allow a secondary.
    package static let notPrimaryNoSecondaryOk = Self(rawValue: 13_435)
    /// The member is neither a primary nor a readable secondary, for example during an initial sync.
    package static let notPrimaryOrSecondary = Self(rawValue: 13_436)
    package static let unknownStage = Self(rawValue: 40_324)
    /// The server has no change streams, because it is a standalone server.
    package static let changeStreamsUnsupported = Self(rawValue: 40_573)
    package static let unknownOption = Self(rawValue: 40_415)
}

/// The driver's codes, which are the negatives of the codes in `mongoc-error.h`, and three codes that this module
/// defines.
extension MongoError.Code {
    package static let nameResolution = Self(rawValue: -3)
    /// A connection broke or timed out.
    package static let socket = Self(rawValue: -4)
    package static let connect = Self(rawValue: -5)
    package static let loginFailed = Self(rawValue: -11)
    package static let invalidReply = Self(rawValue: -14)
    package static let invalidArgument = Self(rawValue: -22)
    package static let serverSelection = Self(rawValue: -13_053)
    package static let passwordMissing = Self(rawValue: -1_000_001)
    package static let keyPasswordMissing = Self(rawValue: -1_000_002)
    package static let poolExhausted = Self(rawValue: -1_000_000)
}
