/// The privileges that one command needs.
///
/// The table ``all`` lists them for every command that connects to a deployment. The roles, the check before a command
/// begins, and the reference documentation come from this table.
package struct CommandNeeds: Sendable {
    /// The name of the command, as the user types it, such as `partner init` or `backfill --dry-run`.
    package let command: String
    /// The needs of the command; the required ones come first.
    package let needs: [Need]

    /// The needs of the command without which it cannot run.
    package var required: [Need] { needs.filter { $0.loss == nil } }

    /// Whether the command requires a privilege to write to the deployment.
    ///
    /// Writes to the history of checks and to the collection of failing documents do not count.
    package var isWriting: Bool {
        let writing: Set = ["insert", "update", "remove", "dropCollection"]
        return required.contains { ![.history, .failures].contains($0.place) && !writing.isDisjoint(with: $0.actions) }
    }

    package static func of(_ command: String) -> CommandNeeds? { all.first { $0.command == command } }

    private init(_ command: String, _ needs: Need...) { self.init(command, needs) }

    private init(_ command: String, _ needs: [Need]) {
        self.command = command
        self.needs = needs.filter { $0.loss == nil } + needs.filter { $0.loss != nil }
    }

    /// Returns the needs of a command that also reads validators, because the user gave `live` as one of its schemas.
    package func readingValidators() -> CommandNeeds {
        CommandNeeds(command, needs + [.needs(.database, "listCollections", for: "reads the validators")])
    }

    /// Returns the command without the needs that contain `action`, because another user performs that action.
    package func without(_ action: String) -> CommandNeeds {
        CommandNeeds(command, needs.filter { !$0.actions.contains(action) })
    }

    /// Returns the command with only the needs that contain `action`, for a user who performs no other action.
    package func only(_ action: String) -> CommandNeeds {
        CommandNeeds(command, needs.filter { $0.actions.contains(action) })
    }

    // MARK: The table

    /// The needs of every command that connects to a deployment.
    package static let all: [CommandNeeds] = [
        CommandNeeds(
            "check",
            checking + [
                .may(
                    .state, "find", for: "finds out what jobs converted (--active)",
                    without: "documents that jobs converted before the deploy count as failing already")
            ]),
        CommandNeeds(
            "check --part",
            checking + [
                .needs(.state, "find", "insert", "update", for: "stores where the collections are divided into parts")
            ]),
        CommandNeeds(
            "history", .needs(.history, "find", for: "reads the stored checks"),
            .may(.history, "remove", for: "removes old checks", without: "--keep is refused")),
        CommandNeeds("diff", readsDocuments),
        CommandNeeds(
            "lint",
            .needs(.database, "listCollections", for: "reads the options of the collections"),
            .needs(.data, "listIndexes", for: "looks for unique indexes")),
        CommandNeeds(
            "plan", readsDocuments, .needs(.database, "listCollections", for: "reads the validators"),
            followsMoment),
        CommandNeeds(
            "enforce", readsDocuments, readsValidator, .needs(.data, "collMod", for: "sets the validator"),
            keepsOwnState, followsMoment),
        CommandNeeds("enforce --dry-run", readsDocuments, readsValidator, readsState, followsMoment),
        CommandNeeds("schema infer", readsDocuments, listsIndexes),
        CommandNeeds(
            "schema infer --database", readsDocuments, listsIndexes,
            .needs(.database, "listCollections", for: "lists the database's collections")),
        CommandNeeds("schema models", readsLive), CommandNeeds("partner plan", readsLive),
        CommandNeeds("ledger show", readsLedger, readsDocuments),
        CommandNeeds("backfill", running),
        CommandNeeds(
            "backfill --dry-run",
            previewing + [
                .may(
                    .data, "listIndexes", for: "finds unique indexes of fields that the job writes",
                    without: "what they would refuse is not counted"),
                .may(.state, "find", for: "reads the progress of the job", without: "the job counts as not started"),
            ]),
        CommandNeeds(
            "undo",
            [
                readsDocuments, .needs(.data, "update", for: "restores the documents"),
                .needs(.created, "find", "remove", for: "removes documents that steps inserted"), findsCollection,
                keepsState, readsLedger, sizesChunks,
            ] + readsMetrics),
        CommandNeeds(
            "undo --dry-run",
            [
                readsDocuments, .needs(.created, "find", for: "finds documents that steps inserted"), findsCollection,
                readsState,
            ]
        ),
        CommandNeeds(
            "status", readsState,
            .may(
                .data, "find", for: "counts the collection",
                without: "the job's share of the collection is not shown")),
        CommandNeeds("job pause", steersRecord, readsRange), CommandNeeds("job resume", steersRecord),
        CommandNeeds("job tune", steersRecord, readsRange),
        CommandNeeds(
            "job deployed", steers,
            .needs(.state, "insert", "remove", for: "releases the job's reservations"),
            .may(
                .data, "find", for: "looks which reserved documents fit now",
                without: "the next run releases their reservations"),
            findsRepairedInLedger,
            .may(
                .database, "listCollections", for: "compares the collection's validator",
                without: "your word is recorded, unverified")),
        CommandNeeds(
            "job rebind", steers, findsCollection,
            .needs(.state, "remove", for: "adds up the counts of a killed run's threads"),
            .needs(.data, "find", for: "compares the documents with the job's journal")),
        CommandNeeds(
            "job cleanup", steers,
            .needs(.state, "insert", "remove", for: "drops the journal and the records"),
            .needs(.data, "find", "update", for: "removes the fields of `once` from the documents"), findsCollection,
            findsRepairedInLedger),
        CommandNeeds(
            "ledger follow", readsDocuments, follows, keepsOwnState,
            .needs(
                .watchLedger, "find", "insert", "update", "remove", "createIndex", for: "keeps a ledger of its own")),
        CommandNeeds(
            "partner init", readsDocuments,
            .needs(.data, "listIndexes", for: "reads the indexes"), findsCollection,
            .needs(.partner, "find", "insert", "update", "createIndex", for: "creates the partner"), keepsOwnState,
            .needs(.state, "remove", for: "releases its reservations"), readsLedger),
        CommandNeeds(
            "partner init --dry-run", readsDocuments,
            .needs(.data, "listIndexes", for: "reads the indexes"), findsCollection, readsState, readsLedger),
        CommandNeeds(
            "partner mirror", mirrors(.data), mirrors(.partner), keepsOwnState,
            .needs(.state, "remove", for: "removes records of changes that are carried over")),
        CommandNeeds(
            "partner verify", readsDocuments, follows,
            .needs(.partner, "find", "changeStream", for: "reads the partners and their changes"),
            .may(.state, "find", "update", for: "stores the result", without: "cutover does not know the result")),
        CommandNeeds(
            "partner cutover", mirrors(.data), mirrors(.partner), keepsOwnState,
            .needs(.state, "remove", for: "removes records of changes that are carried over")),
        CommandNeeds(
            "partner drop", readsDocuments, follows, .needs(.data, "dropCollection", for: "drops the original"),
            keepsOwnState),
        CommandNeeds(
            "doctor", readsLedger,
            .may(.state, "find", for: "counts the jobs", without: "the state database is not examined"),
            .may(
                .data, "find", "changeStream", for: "tries a change stream",
                without: "change streams are not examined"),
            .may(
                .cluster, "serverStatus", for: "reads how far the oplog reaches back",
                without: "the oplog is not examined"),
            .may(
                .oplog, "find", "collStats", for: "reads how far the oplog reaches back",
                without: "the oplog is not examined before MongoDB 5.0"),
            .may(
                .state, "dropCollection", "insert", "update", "remove", "changeStream",
                for: "tries writes (--prove --write)", without: "the assumptions about writing are not tried")),
    ]

    // MARK: Needs that several commands share

    private static let readsDocuments = Need.needs(.data, "find", for: "reads the documents")
    private static let listsIndexes = Need.may(
        .data, "listIndexes", for: "puts the indexes into a Prisma schema", without: "the models have no indexes")
    private static let followsMoment = Need.may(
        .data, "changeStream", for: "checks documents again that change during the scan",
        without: "not a point-in-time result")
    private static let readsValidator = Need.needs(
        .database, "listCollections", for: "reads the validator, before and after each step")
    private static let readsLive = Need.may(
        .database, "listCollections", for: "reads the validators", without: "the schema cannot be live")
    private static let follows = Need.needs(.data, "changeStream", for: "follows the changes")
    private static let findsCollection = Need.needs(
        .database, "listCollections", for: "finds the collection and its options")
    private static let readsLedger = Need.needs(.ledger, "find", for: "counts unsynced documents")
    private static let findsRepairedInLedger = Need.may(
        .ledger, "find", for: "looks which reserved documents are still unsynced",
        without: "the next run releases their reservations")
    private static let looksUp = Need.needs(.lookedUp, "find", for: "looks up documents of other collections")
    private static let looksUpByIndex = Need.needs(.indexed, "indexStats", for: "checks that a lookup has an index")
    private static let readsState = Need.needs(.state, "find", for: "reads the state")
    private static let steers = Need.needs(.state, "find", "update", for: "steers the job")
    private static let steersRecord = Need.needs(.jobs, "find", "update", for: "steers the job")
    private static let readsRange = Need.needs(.ranges, "find", for: "checks whether the job was undone")
    private static let keepsOwnState = Need.needs(.state, "find", "insert", "update", for: "stores its state")
    private static let keepsState = Need.needs(
        .state, "find", "insert", "update", "remove", for: "stores lease, checkpoints and journal")
    private static let sizesChunks = Need.may(
        .data, "collStats", for: "reads the documents' average size",
        without: "chunks are sized by their number of documents alone")
    private static let readsMetrics: [Need] = [
        .may(
            .cluster, "serverStatus", "replSetGetStatus", for: "reads the server metrics of the throttle",
            without: "no throttle on flow control, tickets, cache, and the lag of single secondaries"),
        .may(
            .oplog, "find", "collStats", for: "reads how far the oplog reaches back",
            without: "no throttle on the oplog window before MongoDB 5.0"),
    ]

    private static let checking: [Need] = [
        readsDocuments, readsLedger,
        .needs(.history, "find", "insert", "update", for: "stores the counts of each check"), followsMoment,
        .needs(
            .failures, "find", "insert", "remove",
            for: "stores the failing documents, and removes those of old checks"),
        .may(
            .database, "listCollections", for: "detects a collection that was replaced by another of its name",
            without: "a collection that is replaced during the scan goes unnoticed, and reading takes longer"),
    ]

    /// The needs of a command that shows what a job would do.
    private static let previewing: [Need] =
        [readsDocuments, looksUp, looksUpByIndex, readsLedger, findsCollection, sizesChunks] + readsMetrics

    private static let running: [Need] =
        [
            readsDocuments, .needs(.data, "update", for: "changes the documents"), findsCollection, looksUp,
            looksUpByIndex,
            .needs(.created, "find", "insert", "update", for: "inserts documents into other collections"), keepsState,
            readsLedger, sizesChunks,
            .may(
                .data, "changeStream", for: "finds documents that change during the run",
                without: "the run reads the whole collection again at its end"),
            .may(
                .state, "createIndex", for: "finds reservations by an index",
                without: "a job with many reservations is slower"),
        ] + readsMetrics

    private static func mirrors(_ place: Place) -> Need {
        .needs(place, "find", "insert", "update", "remove", "changeStream", for: "carries changes over")
    }
}
