extension MongoError {
    /// What failed.
    ///
    /// Open. The server's codes are positive and are its own; the driver's are the negative of libmongoc's
    /// `mongoc_error_code_t`, because the two overlap.
    package struct Code: RawRepresentable, Hashable, Sendable {
        /// The server's code, or the negative of the driver's.
        package let rawValue: Int
        /// Wraps a code, known or not.
        package init(rawValue: Int) { self.rawValue = rawValue }
    }
}

/// The server's codes: `src/mongo/base/error_codes.yml`.
extension MongoError.Code {
    /// A value or a combination that the command does not take.
    package static let badValue = Self(rawValue: 2)
    /// An error without a code of its own, such as an exception that a script threw.
    package static let unknownError = Self(rawValue: 8)
    /// A value of a type that does not fit.
    package static let typeMismatch = Self(rawValue: 14)
    /// A number that is too large, or a document that is nested too deep.
    package static let overflow = Self(rawValue: 15)
    /// Bytes that are no BSON.
    package static let invalidBSON = Self(rawValue: 22)
    /// A path that leads through a value that is no document.
    package static let pathNotViable = Self(rawValue: 28)
    /// Two changes of one path.
    package static let conflictingUpdateOperators = Self(rawValue: 40)
    /// A field whose name begins with a dollar sign.
    package static let dollarPrefixedFieldName = Self(rawValue: 52)
    /// An `_id` that no document may have.
    package static let invalidIDField = Self(rawValue: 53)
    /// A reference that lacks one of its fields.
    package static let invalidDBRef = Self(rawValue: 55)
    /// A field without a name.
    package static let emptyFieldName = Self(rawValue: 56)
    /// A field with a dot in its name.
    package static let dottedFieldName = Self(rawValue: 57)
    /// A change of `_id` or of a shard key.
    package static let immutableField = Self(rawValue: 66)
    /// A script that cannot be run, or that failed.
    package static let scriptFailure = Self(rawValue: 139)
    /// Two arrays of one document in a compound index.
    package static let cannotIndexParallelArrays = Self(rawValue: 171)
    /// Too many operations wait to be admitted.
    package static let admissionQueueOverflow = Self(rawValue: 433)
    /// More requests than a limit allows.
    package static let rateLimitExceeded = Self(rawValue: 449)
    /// Too many operations wait for a connection to another server.
    package static let pooledConnectionAcquisitionRejected = Self(rawValue: 450)
    /// More requests than the server takes: it refused this one before it began.
    package static let ingressRequestRateLimitExceeded = Self(rawValue: 462)
    /// The server ended the operation to shed load.
    package static let interruptedDueToOverload = Self(rawValue: 463)
    /// Text that could not be parsed as what it should be.
    package static let failedToParse = Self(rawValue: 9)
    /// The server cannot reach another.
    package static let hostUnreachable = Self(rawValue: 6)
    /// The server knows no such host.
    package static let hostNotFound = Self(rawValue: 7)
    /// Logged in, and not permitted.
    package static let unauthorized = Self(rawValue: 13)
    /// The login was refused.
    package static let authenticationFailed = Self(rawValue: 18)
    /// An operation that is not possible there, such as majority reads on a standalone server.
    package static let illegalOperation = Self(rawValue: 20)
    /// No such database or collection.
    package static let namespaceNotFound = Self(rawValue: 26)
    /// The hint names no index.
    package static let indexNotFound = Self(rawValue: 27)
    /// The server no longer knows the cursor.
    package static let cursorNotFound = Self(rawValue: 43)
    /// The collection is there already.
    package static let namespaceExists = Self(rawValue: 48)
    /// The operation's time was over.
    package static let maxTimeMSExpired = Self(rawValue: 50)
    /// The server knows no such command.
    package static let commandNotFound = Self(rawValue: 59)
    /// The write concern could not be met.
    package static let writeConcernFailed = Self(rawValue: 64)
    /// An option that the server does not take.
    package static let invalidOptions = Self(rawValue: 72)
    /// The replica set is initiated already.
    package static let alreadyInitialized = Self(rawValue: 23)
    /// Not a member of a replica set that could do this.
    package static let noReplicationEnabled = Self(rawValue: 76)
    /// The server waited in vain for another.
    package static let networkTimeout = Self(rawValue: 89)
    /// The server is shutting down.
    package static let shutdownInProgress = Self(rawValue: 91)
    /// Two writes met; the one that lost may be tried again.
    package static let writeConflict = Self(rawValue: 112)
    /// The document does not fit the collection's validator.
    package static let documentValidationFailure = Self(rawValue: 121)
    /// The command does not exist on a view.
    package static let commandNotSupportedOnView = Self(rawValue: 166)
    /// The primary gave up its office.
    package static let primarySteppedDown = Self(rawValue: 189)
    /// The position in the oplog that a change stream wanted is gone.
    package static let changeStreamHistoryLost = Self(rawValue: 286)
    /// A change stream cannot be gone on with.
    package static let changeStreamFatal = Self(rawValue: 280)
    /// A change stream knows no such place.
    package static let invalidResumeToken = Self(rawValue: 260)
    /// What was looked for by its key is not there, such as the record that a collection scan was to go on behind.
    package static let keyNotFound = Self(rawValue: 211)
    /// The server no longer has the point in time that a read was to see.
    package static let snapshotTooOld = Self(rawValue: 239)
    /// The server has no point in time yet that a read could see.
    package static let snapshotUnavailable = Self(rawValue: 246)
    /// The cursor was killed.
    package static let cursorKilled = Self(rawValue: 237)
    /// A `$convert` found a value that it cannot convert.
    package static let conversionFailure = Self(rawValue: 241)
    /// The server limited the operation's time.
    package static let exceededTimeLimit = Self(rawValue: 262)
    /// The query's plan was killed, by a dropped index for example.
    package static let queryPlanKilled = Self(rawValue: 175)
    /// The collection is another than the one meant.
    package static let collectionUUIDMismatch = Self(rawValue: 361)
    /// A socket failed on the server's side.
    package static let socketException = Self(rawValue: 9001)
    /// Not the primary.
    package static let notWritablePrimary = Self(rawValue: 10_107)
    /// A document larger than what the server takes or gives.
    package static let documentTooLarge = Self(rawValue: 10_334)
    /// The disk is full.
    package static let outOfDiskSpace = Self(rawValue: 14_031)
    /// A unique index holds that key.
    package static let duplicateKey = Self(rawValue: 11_000)
    /// The server is shutting down, and ended the operation.
    package static let interruptedAtShutdown = Self(rawValue: 11_600)
    /// The client's operations were killed.
    package static let clientMarkedKilled = Self(rawValue: 46_841)
    /// The operation was killed.
    package static let interrupted = Self(rawValue: 11_601)
    /// The member changed its state, and ended the operation.
    package static let interruptedDueToReplStateChange = Self(rawValue: 11_602)
    /// Not the primary, and the client did not allow a secondary.
    package static let notPrimaryNoSecondaryOk = Self(rawValue: 13_435)
    /// Neither a primary nor a readable secondary, as in an initial sync.
    package static let notPrimaryOrSecondary = Self(rawValue: 13_436)
    /// An aggregation stage that the server does not know.
    package static let unknownStage = Self(rawValue: 40_324)
    /// Change streams on a standalone server.
    package static let changeStreamsUnsupported = Self(rawValue: 40_573)
    /// An option of a command that the server does not know.
    package static let unknownOption = Self(rawValue: 40_415)
    /// A parameter of an API version that the server does not know.
    package static let apiStrictError = Self(rawValue: 323)
}

/// The driver's codes: `mongoc-error.h`, negated.
extension MongoError.Code {
    /// A host's name could not be resolved.
    package static let nameResolution = Self(rawValue: -3)
    /// A connection broke or timed out.
    package static let socket = Self(rawValue: -4)
    /// A connection could not be made.
    package static let connect = Self(rawValue: -5)
    /// The driver could not log in.
    package static let loginFailed = Self(rawValue: -11)
    /// A reply that is not what it should be.
    package static let invalidReply = Self(rawValue: -14)
    /// An argument that the driver refuses, a connection string among them.
    package static let invalidArgument = Self(rawValue: -22)
    /// No server that fits was found in time.
    package static let serverSelection = Self(rawValue: -13_053)
    /// The user's name is given, and no password with it.
    package static let passwordMissing = Self(rawValue: -1_000_001)
    /// The client's key is encrypted, and no password for it is given.
    package static let keyPasswordMissing = Self(rawValue: -1_000_002)
    /// The pool had no client to give in time.
    package static let poolExhausted = Self(rawValue: -1_000_000)
}
