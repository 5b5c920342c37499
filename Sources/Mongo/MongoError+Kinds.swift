/// What a caller may do about an error.
extension MongoError {
    /// Whether the same operation may succeed when it is tried again: the network, a failover, a server that leaves.
    ///
    /// A write that failed so may have been done, wholly or in part; only an idempotent one may be repeated.
    package var isTransient: Bool {
        domain == .stream || isServerSelection || Self.transientCodes.contains(code)
            || !labels.isDisjoint(with: [
                "RetryableWriteError", "TransientTransactionError", "ResumableChangeStreamError",
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

    /// Whether the write was done and only its durability was not confirmed.
    package var isWriteConcern: Bool { domain == .writeConcern }

    /// Whether a document that was to be sent holds a field without a name, which the driver refuses in a cursor's
    /// options: of ours only an `_id` can.
    package var isFieldWithoutName: Bool { domain == .cursor && message.hasSuffix("empty key") }

    /// Whether the operation's own time limit ended it.
    package var isTimeLimit: Bool { code == .maxTimeMSExpired || code == .exceededTimeLimit }

    private static let transientCodes: Set<Code> = [
        .hostUnreachable, .hostNotFound, .networkTimeout, .shutdownInProgress, .primarySteppedDown, .exceededTimeLimit,
        .socketException, .notWritablePrimary, .interruptedAtShutdown, .interruptedDueToReplStateChange,
        .notPrimaryNoSecondaryOk, .notPrimaryOrSecondary, .writeConflict, .connect, .socket, .nameResolution,
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

    /// Whether a write, or the look at what it would do, failed for one of its documents: it ended there, and goes on
    /// without that document.
    ///
    /// What says that the collection, the command or the runner is not as it should be ends the job instead.
    package var isOfOneDocument: Bool {
        guard domain == .server, !isTransient, !isTimeLimit, !isAuthorization, !isCursorLost else { return false }
        return !Self.ofTheWhole.contains(code)
    }

    private static let ofTheWhole: Set<Code> = [
        .failedToParse, .namespaceNotFound, .indexNotFound, .commandNotFound, .writeConcernFailed, .invalidOptions,
        .collectionUUIDMismatch, .interrupted, .illegalOperation, .noReplicationEnabled, .unknownStage,
        .unknownOption, .apiStrictError, .commandNotSupportedOnView,
    ]
}
