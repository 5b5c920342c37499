/// Lint rules for the types of values: `type-missing`, `type-multiple`, `type-unsupported`.
enum TypeLint {
    /// The types that clients support.
    static let syncable: Set<SchemaType> = [
        .bool, .int, .long, .double, .string, .date, .decimal, .objectId, .uuid, .binData, .mixed, .array, .object,
    ]

    static func findings(at place: LintPlace) -> [LintFinding] {
        guard place.holder != nil else { return [] }
        let types = place.node.types
        if types.isEmpty {
            return [
                place.finding(
                    .typeMissing, .error, "clients have no property for a value without a type",
                    remedy: place.node.hasProperties ? "write bsonType \"object\"" : "write its bsonType, or \"mixed\"")
            ]
        }
        if types.count > 1 {
            // If the elements of an array or the values of a dictionary may be null, the rule
            // `collection-nullable-items` decides whether that is reported.
            if place.isHeld, types.contains(.null) { return [] }
            let names = types.map(\.rawValue).joined(separator: ", ")
            let isNullable = types.count == 2 && types.contains(.null)
            let other = place.path == SchemaPath([.field("_id")]) ? "keep one" : "keep one, or write \"mixed\""
            return [
                place.finding(
                    .typeMultiple, .error, "only one type is allowed, but it lists \(names)",
                    remedy: isNullable ? "leave null out, and the field out of required" : other)
            ]
        }
        guard !syncable.contains(types[0]) else { return [] }
        return [
            place.finding(
                .typeUnsupported, .error, "clients do not support the type \(types[0].rawValue)",
                remedy: types[0] == .number ? "write int, long, double or decimal" : "use another type, or \"mixed\"")
        ]
    }
}
