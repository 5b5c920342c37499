/// A kind of change with its verdicts, as the section "Changes" of `docs/reference/rules.md` lists them.
///
/// Kinds that differ only in their circumstances have the same code. For example, removing a property has one code,
/// whether the property was required or not.
public struct ChangeKind: Hashable, Sendable {
    /// The stable name of the kind.
    ///
    /// Kinds that differ only in their circumstances have the same code.
    public let code: SchemaChange.Code
    /// The verdict for the server: whether the server can apply the change in place.
    public let server: SchemaChange.Verdict
    /// The verdict for clients: whether clients that are already installed continue to work.
    public let client: SchemaChange.Verdict
    /// The consequences, with the most severe first.
    public let consequences: [Consequence]
    /// The advice on what to do about the change.
    public let advice: String
    /// The source of the verdicts.
    public let source: Source

    init(
        _ code: SchemaChange.Code, server: SchemaChange.Verdict, client: SchemaChange.Verdict,
        then consequences: [Consequence], _ source: Source, do advice: String
    ) {
        self.code = code
        self.server = server
        self.client = client
        self.consequences = consequences
        self.advice = advice
        self.source = source
    }

    /// The worse of the verdicts for the server and for clients.
    public var verdict: SchemaChange.Verdict { max(server, client) }

    /// A consequence of a change.
    public enum Consequence: String, Hashable, Sendable, CaseIterable {
        /// Sync must be terminated and enabled again.
        case terminate
        /// Every client starts from scratch, and loses the changes that it has not uploaded.
        case clientReset = "client-reset"
        /// Clients that use the changed part of the schema start from scratch.
        case someClientsReset = "some-clients-reset"
        /// The server reads the whole collection again; until that is done, the collection's changes do not sync.
        case resync
        /// The server may read the whole collection again.
        case mayResync = "may-resync"
        /// Documents that do not fit the newer schema stop syncing.
        case unsyncedDocuments = "unsynced-documents"
        /// The server refuses writes of documents that do not fit the newer schema.
        case refusedWrites = "refused-writes"
        /// Clients with a local file need a higher schema version or a migration.
        case clientMigration = "client-migration"
        /// After the change, devices first process the collection's history up to the change.
        case catchUp = "catch-up"
        /// A unique index of the newer schema cannot be created while several documents have one value.
        case failedIndex = "failed-index"
        /// A Prisma client of the newer schema fails to read documents that a client of the older one wrote.
        case failedQueries = "failed-queries"
        /// A Prisma client of the older schema fails to read documents that a client of the newer one writes.
        case failedOldClients = "failed-old-clients"
        /// A Prisma client reads a value that differs from the one that another client wrote.
        case changedValues = "changed-values"
        /// A Prisma client does not see values that another client wrote under another name of the field or collection.
        case hiddenValues = "hidden-values"
        /// Functions, rules and the Data API validate documents by the changed part of the schema, but sync does not.
        case dataAccess = "data-access"
    }

    /// The source of a kind's verdicts.
    public struct Source: Hashable, Sendable {
        /// How certain the verdicts are.
        public enum Basis: String, Hashable, Sendable {
            /// A page of the documentation states the verdicts.
            case documented
            /// The documentation states only some of the verdicts; the others follow from these.
            case partly = "partly-documented"
            /// The verdicts follow from documentation about another subject; if in doubt, the more severe verdict
            /// applies.
            case inferred
        }

        /// How certain the verdicts are.
        public let basis: Basis
        /// The page of the documentation, or the rule from which the verdicts follow.
        public let text: String
        /// The row that states the verdicts in the quick reference on the page "Update Your Schema"; `nil` if there is
        /// none.
        public let quickReference: String?

        static func quickReference(_ row: String) -> Self {
            Self(basis: .documented, text: "App Services: Update Your Schema", quickReference: row)
        }

        static func documented(_ text: String) -> Self { Self(basis: .documented, text: text, quickReference: nil) }
        static func partly(_ text: String) -> Self { Self(basis: .partly, text: text, quickReference: nil) }
        static func inferred(_ text: String) -> Self { Self(basis: .inferred, text: text, quickReference: nil) }
    }
}

extension SchemaChange.Verdict: Comparable {
    private var rank: Int {
        switch self {
        case .nonBreaking: 0
        case .served: 1
        case .versioned: 2
        case .breaking: 3
        }
    }

    /// Orders verdicts from the least severe to the most severe.
    public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
}

/// Changes of object types and of the collections that hold them.
extension ChangeKind {
    static let typeAdded = Self(
        .typeAdded, server: .nonBreaking, client: .nonBreaking,
        then: [.mayResync, .unsyncedDocuments, .clientMigration], .quickReference("Add an object type"),
        do: "Check the collection's documents before the deploy: documents that do not conform will not sync.")
    static let typeRemoved = Self(
        .typeRemoved, server: .breaking, client: .nonBreaking, then: [.terminate, .clientReset],
        .quickReference("Remove an object type"),
        do: "Keep the type on the server, and remove it only from the clients: that breaks nothing.")
    static let typeRenamed = Self(
        .typeRenamed, server: .breaking, client: .breaking, then: [.terminate, .clientReset],
        .quickReference("Change an object type name"),
        do: "Keep the title, and map the class name in the client (Kotlin, Java, .NET, Flutter). Otherwise use a "
            + "partner collection, or terminate and re-enable sync.")
    static let embeddedTypeRenamed = Self(
        .typeRenamed, server: .breaking, client: .breaking, then: [.terminate, .clientReset],
        .inferred("as a type's rename"),
        do: "Keep the title of the embedded type, and map the class name in the client. No document has to change.")
    static let collectionMoved = Self(
        .collectionMoved, server: .breaking, client: .nonBreaking, then: [.terminate, .clientReset],
        .inferred("on the server the type is removed and added again; clients know types by their titles"),
        do:
            "Copy the documents to the new collection, keep both in sync with triggers while clients update, and "
            + "remove the old one last.")
}

/// Changes of the values of a property, such as their type or their number.
extension ChangeKind {
    private static let row = Source.quickReference("Change property type but keep the name")
    private static let asType = Source.inferred(
        "as a change of type; clients compare element types and collections, too")
    private static let remedy =
        "Or keep the property, and add one of the new type with converted values: that change is additive."

    private static func type(
        _ code: SchemaChange.Code, client: SchemaChange.Verdict = .breaking, _ source: Source, do advice: String
    ) -> Self {
        Self(
            code, server: .breaking, client: client, then: [.terminate, .clientReset, .unsyncedDocuments], source,
            do: advice)
    }

    static let propertyTypeChanged = type(
        .propertyTypeChanged, row,
        do: "Terminate sync, convert the documents, and re-enable sync with the new schema; or use a partner "
            + "collection. " + remedy)
    /// A change from `int` or `long` to `double` or `decimal`, or from `double` to `decimal`.
    static let numberWidened = type(
        .propertyTypeChanged, row,
        do: "A wider number type is a breaking change, too: terminate sync, convert the documents, and re-enable sync. "
            + remedy)
    /// A change between `int` and `long`, which are the same 64-bit integer for clients.
    ///
    /// This kind applies only to properties. For elements and the primary key, the documentation does not say that the
    /// two types are the same, so a more severe kind applies.
    static let integerWidthChanged = type(
        .propertyTypeChanged, client: .nonBreaking,
        Source(
            basis: .partly, text: "App Services: Update Your Schema; that clients hold both as 64 bits is inferred",
            quickReference: "Change property type but keep the name"),
        do: "Keep the old type: clients store both as the same 64-bit integer, and the server accepts both.")
    static let cardinalityChanged = type(
        .cardinalityChanged, asType,
        do: "Terminate sync, wrap single values or unwrap lists of one value, and re-enable sync. " + remedy)
    static let listSetChanged = type(
        .listSetChanged, asType,
        do: "Terminate sync, remove duplicates if it becomes a set, and re-enable sync. " + remedy)
    static let elementTypeChanged = type(
        .elementTypeChanged, asType,
        do: "Terminate sync, convert each element or value, and re-enable sync. " + remedy)
    static let elementNullabilityChanged = type(
        .elementNullabilityChanged, .inferred("as a change between optional and required"),
        do: "Terminate sync, drop or fill the nulls that the new schema refuses, and re-enable sync.")
    static let embeddingChanged = type(
        .embeddingChanged, .inferred("clients store embedded objects and links in tables of two kinds"),
        do:
            "Use a partner collection. Without one, clients can migrate only if each object has exactly one parent: "
            + "first count the objects without a parent and those with several.")
    static let linkAdded = link(.linkAdded, "the values must be keys of the linked documents, or null")
    static let linkRemoved = link(.linkRemoved, "the keys stay as plain values")
    static let linkRetargeted = link(.linkRetargeted, "the values must be keys of the newly linked documents, or null")

    private static func link(_ code: SchemaChange.Code, _ demand: String) -> Self {
        type(
            code, .inferred("as a change of type: a link is another type than the key that it holds"),
            do: "Terminate and re-enable sync with the new schema, or use a partner collection; \(demand).")
    }

    static let idRemoved = Self(
        .idRemoved, server: .breaking, client: .breaking, then: [.terminate, .clientReset, .unsyncedDocuments],
        .documented("App Services: Data Model"),
        do: "Do not deploy it: sync refuses a type whose primary key is not named _id. Keep _id.")
    static let idTypeChanged = Self(
        .idTypeChanged, server: .breaking, client: .breaking, then: [.terminate, .clientReset, .unsyncedDocuments],
        .documented("App Services: Partner Collections; the older pages on migrations"),
        do:
            "An _id cannot be changed in place: use a partner collection whose documents have new _ids, and map every "
            + "link to them.")
}

/// Changes of how the app syncs.
extension ChangeKind {
    static let partitionKeyChanged = Self(
        .partitionKeyChanged, server: .breaking, client: .breaking,
        then: [.terminate, .clientReset, .unsyncedDocuments], .documented("App Services: Partition-Based Sync"),
        do: "Terminate sync, give every document the new key, and re-enable sync.")
    static let queryableAdded = Self(
        .queryableAdded, server: .nonBreaking, client: .nonBreaking, then: [.catchUp],
        .documented("App Services: Sync Settings"), do: "Nothing.")
    static let queryableRemoved = Self(
        .queryableRemoved, server: .nonBreaking, client: .breaking, then: [.someClientsReset],
        .documented("App Services: Sync Settings"),
        do: "Wait until no client subscribes by this field: clients that still do get an error and reset.")
    static let indexedQueryableChanged = Self(
        .indexedQueryableChanged, server: .breaking, client: .breaking, then: [.terminate, .clientReset],
        .documented("App Services: Sync Settings"),
        do: "Change it while sync is terminated. Its type must be the same in every collection.")
    static let syncModeChanged = Self(
        .syncModeChanged, server: .breaking, client: .breaking, then: [.terminate, .clientReset],
        .documented("App Services: Sync Settings"), do: "Terminate sync, change the mode, and re-enable sync.")
    static let dataSourceChanged = Self(
        .dataSourceChanged, server: .breaking, client: .breaking, then: [.terminate, .clientReset],
        .documented("App Services: Sync Settings"),
        do: "Terminate sync, copy the documents to the other cluster, and re-enable sync there.")
    static let asymmetricChanged = Self(
        .asymmetricChanged, server: .breaking, client: .breaking, then: [.terminate, .clientReset],
        .documented("App Services: release notes of 2024-07-10"),
        do: "Terminate and re-enable sync. Clients need another kind of object for the type.")
}

extension ChangeKind {
    /// All kinds of changes between App Services schemas, except ``removedBeforeDay``, which applies to every dialect.
    package static let all: [ChangeKind] = [
        typeAdded, defaultAdded, defaultChanged, defaultRemoved, requiredAdded, optionalAdded, typeRemoved,
        requiredRemoved, optionalRemoved, typeRenamed, collectionMoved, propertyRenamed, propertyTypeChanged,
        numberWidened, integerWidthChanged, optionalToRequired, requiredToOptional, cardinalityChanged, listSetChanged,
        elementTypeChanged, elementNullabilityChanged, embeddingChanged, linkAdded, linkRemoved, linkRetargeted,
        idRemoved, idTypeChanged, partitionKeyChanged, queryableAdded, queryableRemoved, indexedQueryableChanged,
        constraintTightened, constraintLoosened, additionalPropertiesChanged, embeddedTypeRenamed, syncModeChanged,
        dataSourceChanged, asymmetricChanged,
    ]
}

/// Changes of a property's presence, name and default, and of whether it is required.
extension ChangeKind {
    static let requiredAdded = Self(
        .requiredAdded, server: .nonBreaking, client: .nonBreaking,
        then: [.resync, .unsyncedDocuments, .clientMigration], .quickReference("Add a required property"),
        do: "Fill the documents, deploy, then fill the documents that older clients wrote in the meantime. If more "
            + "documents than the limit lack it, sync stops.")
    static let optionalAdded = Self(
        .optionalAdded, server: .nonBreaking, client: .nonBreaking,
        then: [.mayResync, .unsyncedDocuments, .clientMigration], .quickReference("Add an optional property"),
        do: "Nothing, unless documents already have a field of that name with another type: convert them first.")
    static let requiredRemoved = removed("Remove a required property")
    static let optionalRemoved = removed("Remove an optional property")

    private static func removed(_ row: String) -> Self {
        Self(
            .propertyRemoved, server: .breaking, client: .nonBreaking, then: [.terminate, .clientReset],
            .quickReference(row),
            do: "Keep it on the server, and remove it only from the clients: it is zero or null in new objects.")
    }

    /// A removal of a property or type before the day until which the older schema promises it (`@deprecated DAY`).
    ///
    /// Reports show this kind in addition to the removal itself. The verdicts are the same in every dialect.
    static let removedBeforeDay = Self(
        .removedBeforeDay, server: .nonBreaking, client: .breaking, then: [],
        .documented("the older schema's own description of the property"),
        do: "Keep it until that day. If no client uses it any more, change the day first.")

    static let propertyRenamed = Self(
        .propertyRenamed, server: .breaking, client: .breaking, then: [.terminate, .clientReset],
        .quickReference("Change a property name"),
        do: "Keep the name, and map it in the client (most SDKs can). Otherwise add the new property next to the old "
            + "one and copy the values, or use a partner collection.")
    static let optionalToRequired = Self(
        .optionalToRequired, server: .breaking, client: .breaking,
        then: [.terminate, .clientReset, .unsyncedDocuments],
        .quickReference("Change property from optional to required"),
        do: "Fill the documents where it is missing or null, then terminate and re-enable sync with the new schema; or "
            + "use a partner collection.")
    static let requiredToOptional = Self(
        .requiredToOptional, server: .breaking, client: .breaking, then: [.terminate, .clientReset],
        .quickReference("Change property from required to optional"),
        do:
            "No document has to change. Keep it required if you can; otherwise terminate and re-enable sync, or use a "
            + "partner collection.")
    static let defaultAdded = Self(
        .defaultAdded, server: .nonBreaking, client: .nonBreaking, then: [.mayResync],
        .documented("App Services: Update Your Data Model"),
        do: "Nothing: clients show the default where the field is missing; the documents do not change.")
    static let defaultChanged = Self(
        .defaultChanged, server: .nonBreaking, client: .nonBreaking, then: [.mayResync],
        .inferred("as an added default"),
        do: "Documents without the field show the new default. If they must keep the old one, write it into them first."
    )
    static let defaultRemoved = Self(
        .defaultRemoved, server: .nonBreaking, client: .nonBreaking, then: [.mayResync, .unsyncedDocuments],
        .inferred("as an added default"),
        do: "First write the old default into the documents that lack the field: without it they stop syncing.")
}

/// Changes of unique indexes, which a Prisma schema states.
extension ChangeKind {
    /// A new unique index; its verdict for the server is `breaking` once documents with equal values were counted.
    static let uniqueAdded = unique(
        .uniqueAdded, .nonBreaking, then: [.failedIndex],
        "Check the collection before the deploy: db push fails with E11000 while several documents have one value, and "
            + "null and missing count as one (shipshape check, shipshape plan).")
    static let uniqueRemoved = unique(.uniqueRemoved, .nonBreaking, then: [], "Nothing.")
    /// A new unique index that some documents prevent.
    static let uniqueRefused = unique(
        .uniqueAdded, .breaking, then: [.failedIndex],
        "Make the values unique before the deploy, or create a partial index instead (shipshape plan): db push fails "
            + "with E11000.")

    private static func unique(
        _ code: SchemaChange.Code, _ server: SchemaChange.Verdict, then consequences: [Consequence], _ advice: String
    ) -> Self {
        Self(
            code, server: server, client: .nonBreaking, then: consequences,
            .documented("MongoDB manual: Unique Indexes; db push of Prisma creates them"), do: advice)
    }
}

/// Changes of constraints, and of the rule for undeclared fields.
extension ChangeKind {
    static let constraintTightened = Self(
        .constraintTightened, server: .nonBreaking, client: .nonBreaking, then: [.unsyncedDocuments, .dataAccess],
        .inferred("clients do not know constraints"),
        do:
            "Check the documents before the deploy: documents that break the constraint might stop syncing, and "
            + "clients can still write such documents.")
    static let constraintLoosened = Self(
        .constraintLoosened, server: .nonBreaking, client: .nonBreaking, then: [.dataAccess],
        .inferred("clients do not know constraints"), do: "Nothing.")
    static let additionalPropertiesChanged = Self(
        .additionalPropertiesChanged, server: .nonBreaking, client: .nonBreaking, then: [.dataAccess],
        .inferred("sync ignores fields that the schema does not declare"),
        do:
            "Nothing for sync. If the new schema refuses undeclared fields, check the documents that functions and "
            + "rules use.")
}
