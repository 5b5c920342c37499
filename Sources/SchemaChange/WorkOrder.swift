public import ServerSchema

/// The order of the jobs and the deploy for a change, which decides who reads what in between.
///
/// The raw values are codes: the section "Order of work" of `docs/reference/rules.md` says for each of them what old
/// and new clients read, and what to do before, between and after. A test executes each order with small clients.
public enum WorkOrder: String, Hashable, Sendable, CaseIterable {
    /// Prisma clients of both schemas read all documents, whatever comes first.
    case prismaAnyTime = "prisma-any-time"
    /// A job makes the documents readable for newer Prisma clients, before the deploy and again after it.
    case prismaFill = "prisma-fill"
    /// Newer Prisma clients write what older ones wrote, until no older one runs.
    case prismaReadFirst = "prisma-read-first"
    /// Prisma clients of the two schemas cannot share one field: it becomes two, and the old one goes last.
    case prismaExpand = "prisma-expand"
    /// The server applies the change while sync runs, and no document is affected.
    case syncAnyTime = "sync-any-time"
    /// A job makes the documents fit before the server applies the change, and again afterwards.
    case syncFill = "sync-fill"
    /// The change waits until no installed client needs the older schema.
    case syncWait = "sync-wait"
    /// Sync is terminated, and every client starts from scratch.
    case syncTerminate = "sync-terminate"
    /// The validator accepts what it accepted before.
    case validatorAnyTime = "validator-any-time"
    /// The validator only warns while a job makes the documents fit.
    case validatorWarn = "validator-warn"

    /// Creates the order for a kind of change, in a dialect.
    public init(of kind: ChangeKind, in dialect: Dialect) {
        let consequences = Set(kind.consequences)
        let keepsDefault = kind.code == .defaultChanged && !consequences.isEmpty
        self =
            switch dialect {
            case .jsonSchema: consequences.contains(.refusedWrites) ? .validatorWarn : .validatorAnyTime
            case .prisma where consequences.contains(.hiddenValues): .prismaExpand
            case .prisma where consequences.isSuperset(of: [.failedQueries, .failedOldClients]): .prismaExpand
            case .prisma where consequences.contains(.failedQueries) || keepsDefault: .prismaFill
            case .prisma: consequences.contains(.failedOldClients) ? .prismaReadFirst : .prismaAnyTime
            case _ where kind.server == .breaking: .syncTerminate
            case _ where kind.client == .breaking: .syncWait
            default: consequences.contains(.unsyncedDocuments) || keepsDefault ? .syncFill : .syncAnyTime
            }
    }

    /// Whether the change needs no work, and no waiting.
    public var isFree: Bool { [.prismaAnyTime, .syncAnyTime, .validatorAnyTime].contains(self) }

    /// Whether Prisma clients fail, or do not see values, if the newer schema is deployed in a single step.
    public var hasOutage: Bool { [.prismaFill, .prismaReadFirst, .prismaExpand].contains(self) }
}
