import ServerSchema

/// How a value fares where a schema declares a type: as a check judges it, or worse.
enum Fitness: Comparable {
    case fits, possible, fails
}

extension ValueKind {
    /// The types that clients have, but for `mixed`: what App Services can declare of a value.
    static let declarable: Set<SchemaType> = [
        .bool, .int, .long, .double, .decimal, .string, .date, .objectId, .uuid, .binData, .object, .array,
    ]

    /// How a value fares under an App Services type, null and `mixed` aside.
    /// - Parameter isID: Whether it is a document's `_id`, where int and long are one and other numbers are not.
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

    /// How a value fares under `mixed`, what is inside it aside.
    var mixedFitness: Fitness {
        switch self {
        case .undefined, .dbPointer, .symbol, .javascriptWithScope: .fails
        case .regex, .timestamp, .javascript, .minKey, .maxKey, .otherBinary: .possible
        default: .fits
        }
    }
}
