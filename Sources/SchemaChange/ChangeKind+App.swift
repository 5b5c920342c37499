/// How the app syncs.
extension ChangeKind {
    static let partitionKeyChanged = Self(
        .partitionKeyChanged, server: .breaking, client: .breaking,
        then: [.terminate, .clientReset, .unsyncedDocuments], .documented("App Services: Partition-Based Sync"),
        do: "Give every document the new key while sync is terminated, then re-enable it: all clients sync anew.")
    static let queryableAdded = Self(
        .queryableAdded, server: .nonBreaking, client: .nonBreaking, then: [.catchUp],
        .documented("App Services: Sync Settings"), do: "Nothing; devices first catch up to that point of history.")
    static let queryableRemoved = Self(
        .queryableRemoved, server: .nonBreaking, client: .breaking, then: [.someClientsReset],
        .documented("App Services: Sync Settings"),
        do: "Wait until no client subscribes by it: those that do get an error and reset.")
    static let indexedQueryableChanged = Self(
        .indexedQueryableChanged, server: .breaking, client: .breaking, then: [.terminate, .clientReset],
        .documented("App Services: Sync Settings"),
        do: "It can be changed only while sync is off. Its type must be the same in every collection.")
    static let syncModeChanged = Self(
        .syncModeChanged, server: .breaking, client: .breaking, then: [.terminate, .clientReset],
        .documented("App Services: Sync Settings"), do: "Terminate sync, change the mode, and re-enable it.")
    static let dataSourceChanged = Self(
        .dataSourceChanged, server: .breaking, client: .breaking, then: [.terminate, .clientReset],
        .documented("App Services: Sync Settings"),
        do: "Terminate sync, bring the documents to the other cluster, and re-enable it there.")
    static let asymmetricChanged = Self(
        .asymmetricChanged, server: .breaking, client: .breaking, then: [.terminate, .clientReset],
        .documented("App Services: release notes of 2024-07-10"),
        do: "Terminate and re-enable sync. Clients need the other kind of object for the type.")
}

extension ChangeKind {
    /// Every kind, in the order of the reference.
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
