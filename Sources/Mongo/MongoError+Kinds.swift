/// What a caller may do about an error.
extension MongoError {
    /// Whether the same operation may succeed when it is tried again: the network, a failover, a server that leaves or
    /// that sheds load.
    ///
    /// A write that failed so may have been done, wholly or in part; only an idempotent one may be repeated.
    package var isTransient: Bool {
        domain == .stream || isServerSelection || isOverload || Self.transientCodes.contains(code)
            || !labels.isDisjoint(with: [
                "RetryableWriteError", "TransientTransactionError", "ResumableChangeStreamError",
                "UnknownTransactionCommitResult",
            ])
    }

    /// Whether a scan may go on with a new cursor after the last document seen: the error is transient, or the
    /// cursor's own, such as that its time is over.
    package var isCursorLost: Bool {
        isTransient || isTimeLimit || code == .cursorNotFound || code == .cursorKilled || code == .queryPlanKilled
    }

    /// Whether no server that fits was found in time; the message says why.
    package var isServerSelection: Bool { domain == .serverSelection }

    /// Whether the server's certificate does not prove who it is.
    package var isUntrusted: Bool { message.contains("certificate verify failed") }

    /// Whether the server hung up before it had said anything: it may want encryption, or another certificate.
    package var isHungUp: Bool {
        ["Server closed connection", "connection closed", "unknown socket error", "Failed to receive length header"]
            .contains(where: message.contains)
    }

    /// Whether the login was refused.
    package var isAuthentication: Bool {
        code == .authenticationFailed || code == .loginFailed || domain == .scram || domain == .sasl
    }

    /// Whether what was asked for can never be reached so: a connection string, an option, a file, or a password that is
    /// not there.
    package var isConfiguration: Bool {
        (domain == .command || domain == .client)
            && [.invalidArgument, .passwordMissing, .keyPasswordMissing].contains(code)
    }

    /// Whether the user is logged in, or none is, and lacks a privilege.
    package var isAuthorization: Bool { code == .unauthorized }

    /// Whether the server ended the operation because a client, this one among them, asked it to.
    package var isInterruption: Bool {
        code == .interrupted || code == .cursorKilled || code == .clientMarkedKilled
            || code == .scriptFailure && message.contains("nterrupted")
    }

    /// Whether the write was done and only its durability was not confirmed.
    package var isWriteConcern: Bool { domain == .writeConcern }

    /// Whether a document that was to be sent holds a field without a name, which the driver refuses in a cursor's
    /// options: of ours only an `_id` can.
    package var isFieldWithoutName: Bool { domain == .cursor && message.hasSuffix("empty key") }

    /// Whether the driver refuses to send what it was given: a document that is too large for a command, or whose names
    /// or texts are not UTF-8.
    package var isRefusedByDriver: Bool {
        code.rawValue < 0 && ([.command, .cursor, .bson].contains(domain) || code == .invalidArgument)
    }

    /// Whether the operation's own time limit ended it.
    package var isTimeLimit: Bool { code == .maxTimeMSExpired || code == .exceededTimeLimit }

    private static let transientCodes: Set<Code> = [
        .hostUnreachable, .hostNotFound, .networkTimeout, .shutdownInProgress, .primarySteppedDown, .exceededTimeLimit,
        .socketException, .notWritablePrimary, .interruptedAtShutdown, .interruptedDueToReplStateChange,
        .notPrimaryNoSecondaryOk, .notPrimaryOrSecondary, .writeConflict,
        .connect, .socket, .nameResolution,
    ]
}

extension MongoError {
    /// Whether the server may still be at the operation, or get it only now.
    ///
    /// An error that the server itself replied ended it; a router's may be about a server behind it.
    package var mayBeUnderWay: Bool {
        isTransient && !isServerSelection && (domain != .server || Self.ofNetwork.contains(code))
    }

    private static let ofNetwork: Set<Code> = [.hostUnreachable, .hostNotFound, .networkTimeout, .socketException]

    /// Whether the server refused the command because of its own load, and would take the same command later.
    ///
    /// The labels decide; servers that give none are known by their codes. Source: the drivers' specification "client
    /// backpressure", and `src/mongo/base/error_codes.yml`.
    package var isOverload: Bool {
        labels.contains("SystemOverloadedError") || Self.overloadCodes.contains(code) && domain.isServer
    }

    /// Whether the server refused the command because of its load before it began: then even a write may be sent again.
    var isRefusedUnbegun: Bool {
        isOverload && domain == .server
            && (labels.contains("RetryableError") || labels.isEmpty && code == .ingressRequestRateLimitExceeded)
    }

    private static let overloadCodes: Set<Code> = [
        .admissionQueueOverflow, .rateLimitExceeded, .pooledConnectionAcquisitionRejected,
        .ingressRequestRateLimitExceeded, .interruptedDueToOverload,
    ]

    /// Whether a write, or the look at what it would do, failed for one of its documents: it ended there, and goes on
    /// without that document.
    ///
    /// Only what is known to be of one document is: every other error ends the job, because an unknown one may say that
    /// the collection, the command, the server or the runner is not as it should be. Expressions fail at a value with a
    /// numbered assertion, of which there are thousands; what is not about a value has a name.
    package var isOfOneDocument: Bool {
        guard domain == .server, !isTransient, !isCursorLost else { return false }
        return Self.ofDocuments.contains(code) || isAssertion || isOfScript
    }

    private static let ofDocuments: Set<Code> = [
        .badValue, .typeMismatch, .overflow, .invalidBSON, .pathNotViable, .conflictingUpdateOperators,
        .dollarPrefixedFieldName, .invalidIDField, .invalidDBRef, .emptyFieldName, .dottedFieldName, .immutableField,
        .documentValidationFailure, .cannotIndexParallelArrays, .conversionFailure, .documentTooLarge, .duplicateKey,
    ]

    /// Whether the code is the number of a place in the server's source, and no named error.
    private var isAssertion: Bool {
        code.rawValue > 10_000 && codeName?.hasPrefix("Location") ?? true && !Self.namedAbove10000.contains(code)
    }

    /// The named errors with such high numbers, which a statement's error does not name: the last part of
    /// `error_codes.yml`, and two that say that the server does not know a stage or an option.
    private static let namedAbove10000: Set<Code> = Set(
        [
            10_003, 10_058, 10_107, 11_600, 11_601, 11_602, 12_586, 12_587, 13_104, 13_113, 13_297, 13_388, 13_435,
            13_436, 14_031, 28_769, 31_082, 40_324, 40_413, 40_414, 40_415, 40_573, 46_841, 50_768, 50_915, 56_846,
            57_986, 91_331, 640_570, 640_571, 1_003_141, 4_662_500, 4_938_500, 9_737_301, 9_751_901, 9_751_902,
            9_751_903, 10_045_600, 10_171_600,
        ].map(Code.init))

    /// Whether a script of the operator's, as of `$function`, failed at a document.
    private var isOfScript: Bool {
        code == .unknownError && message.contains("uncaught exception")
            || code == .scriptFailure && !message.contains("SyntaxError")
    }
}
