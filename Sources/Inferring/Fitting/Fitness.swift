import ServerSchema

/// The degree to which a value fits a declared type, judged only by the value's ``ValueKind``.
///
/// A check of documents also looks at the value itself. It may find a better fit than the kind shows, but never a worse
/// one.
enum Fitness: Comparable {
    case fits, possible, fails
}

extension ValueKind {
    /// The types, except `mixed`, that App Services can declare for values that clients can have.
    static let declarable: Set<SchemaType> = [
        .bool, .int, .long, .double, .decimal, .string, .date, .objectId, .uuid, .binData, .object, .array,
    ]

    /// Returns how well a value fits an App Services type other than null and `mixed`.
    /// - Parameter isID: whether the value is a document's `_id`; then int and long fit each other, and any other type
    ///   fits only itself.
    func fitness(for declared: SchemaType, isID: Bool = false) -> Fitness {
        if type == declared, self != .otherBinary { return .fits }
        if isID { return [.int, .long].contains(declared) && [.int, .long].contains(type) ? .fits : .fails }
        switch (self, declared) {
        case (.int, .long), (.int, .double), (.int, .decimal), (.long, .int), (.long, .double), (.long, .decimal),
            (.longBeyondDouble, .int), (.longBeyondDouble, .decimal), (.double, .decimal), (.nonFiniteDouble, .decimal),
            (.integralDouble, .int), (.integralDouble, .long), (.integralDouble, .decimal),
            (.uuid, .binData), (.otherBinary, .binData):
            return .possible
        default: return .fails
        }
    }

    /// The degree to which a value fits `mixed`, regardless of the values inside it.
    var mixedFitness: Fitness {
        switch self {
        case .undefined, .dbPointer, .symbol, .javascriptWithScope: .fails
        case .regex, .timestamp, .javascript, .minKey, .maxKey, .otherBinary: .possible
        default: .fits
        }
    }
}
