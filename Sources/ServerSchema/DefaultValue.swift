internal import BSON

/// Turns the JSON of a `default` into the BSON value that clients see.
///
/// Plain JSON and extended JSON are understood. A plain number takes the declared numeric type, as plain JSON has only
/// one.
struct DefaultValue {
    /// The types that the schema declares beside the default.
    let types: [SchemaType]

    /// The value, nested ones included.
    /// - Throws: ``SchemaError`` for a wrapper whose value is no value of its type.
    func value(_ json: LocatedJSON) throws(SchemaError) -> BSONValue {
        if case .number(let text) = json.value, let number = number(text) { return number }
        return try LocatedBSON(json).bson
    }

    private func number(_ text: String) -> BSONValue? {
        switch types {
        case [.long]: Int64(text).map { .long($0) }
        case [.double]: Double(text).map { .double($0) }
        case [.decimal]: Decimal128(text).map { .decimal($0) }
        default: nil
        }
    }
}
