import ServerSchema

/// Decides whether, after a change, a validator might refuse documents that it accepted before.
enum ValidatorVerdict {
    static func refusesMore(_ change: SchemaChange) -> Bool {
        switch change.code {
        case .requiredAdded, .optionalToRequired, .constraintTightened: true
        case .propertyRemoved, .idRemoved: !change.leavesAnyFields
        case .propertyTypeChanged, .idTypeChanged, .elementTypeChanged, .elementNullabilityChanged,
            .cardinalityChanged:
            !widens(change)
        case .listSetChanged: change.new?.node?.uniqueItems == true
        case .additionalPropertiesChanged: change.new?.node?.furtherFields != .any
        default: false
        }
    }

    /// Whether the newer schema allows all types that the older schema allows.
    ///
    /// The result is `true` if the newer schema allows any type. Otherwise, if the older schema allows arrays, their
    /// elements must also have the same types as before.
    private static func widens(_ change: SchemaChange) -> Bool {
        guard let old = change.old?.node, let new = change.new?.node else { return false }
        if new.types.isEmpty { return true }
        if old.types.isEmpty { return false }
        let numbers: Set<SchemaType> = [.int, .long, .double, .decimal]
        return old.types.allSatisfy { type in
            new.types.contains(type) || new.types.contains(.number) && numbers.contains(type)
        } && !(old.admits(.array) && old.elementWords != new.elementWords)
    }
}
