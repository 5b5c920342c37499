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
    /// The result is `true` if the newer schema allows any type. Otherwise, if the older schema allows arrays, the
    /// newer one must also allow all types of their elements; elements that are objects must have the same types.
    private static func widens(_ change: SchemaChange) -> Bool {
        guard let old = change.old?.node, let new = change.new?.node else { return false }
        return widens(old, new)
    }

    private static func widens(_ old: SchemaNode, _ new: SchemaNode) -> Bool {
        guard ConstraintChange(from: old, to: new).tightened.allSatisfy({ !concerns($0, old) }) else { return false }
        if new.types.isEmpty { return true }
        if old.types.isEmpty { return false }
        let numbers: Set<SchemaType> = [.int, .long, .double, .decimal]
        let isWider = old.types.allSatisfy { type in
            new.types.contains(type) || new.types.contains(.number) && numbers.contains(type)
        }
        guard isWider, old.admits(.array), old.elementWords != new.elementWords else { return isWider }
        guard case .each(let before)? = old.items, case .each(let after)? = new.items else { return false }
        return !before.admits(.object) && widens(before, after)
    }

    private static func concerns(_ keyword: String, _ schema: SchemaNode) -> Bool {
        let types: [SchemaType] =
            switch keyword {
            case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
                [.int, .long, .double, .decimal, .number]
            case "minLength", "maxLength", "pattern": [.string]
            case "minItems", "maxItems", "uniqueItems", "additionalItems": [.array]
            case "minProperties", "maxProperties", "dependencies": [.object]
            default: []
            }
        return types.isEmpty || types.contains(where: schema.admits)
    }
}
