import ServerSchema

/// How well a value fits a declared type: as a check judges it, or worse.
enum Fitness: Comparable {
    case fits, possible, fails
}

extension ValueKind {
    /// The types that clients have, except `mixed`: those that App Services can declare for a value.
    static let declarable: Set<SchemaType> = [
        .bool, .int, .long, .double, .decimal, .string, .date, .objectId, .uuid, .binData, .object, .array,
    ]

    /// Returns how well a value fits an App Services type, apart from null and `mixed`.
    /// - Parameter isID: whether it is a document's `_id`, where int and long fit each other and other numbers do not.
    func fitness(for declared: SchemaType, isID: Bool = false) -> Fitness {
        if type == declared, self != .otherBinary { return .fits }
        if isID { return [.int, .long].contains(declared) && [.int, .long].contains(type) ? .fits : .fails }
        switch (self, declared) {
        case (.int, .long), (.int, .double), (.int, .decimal), (.long, .int), (.long, .double), (.long, .decimal),
            (.longBeyondDouble, .int), (.longBeyondDouble, .decimal), (.double, .decimal),
            (.integralDouble, .int), (.integralDouble, .long), (.integralDouble, .decimal),
            (.uuid, .binData), (.otherBinary, .binData):
            return .possible
        default: return .fails
        }
    }

    /// How well a value fits `mixed`, apart from its contents.
    var mixedFitness: Fitness {
        switch self {
        case .undefined, .dbPointer, .symbol, .javascriptWithScope: .fails
        case .regex, .timestamp, .javascript, .minKey, .maxKey, .otherBinary: .possible
        default: .fits
        }
    }
}
