extension BSONValue {
    /// The bytes that the value takes in a document, without its type and its name.
    package var byteCount: Int {
        switch self {
        case .undefined, .null, .minKey, .maxKey: 0
        case .bool: 1
        case .int: 4
        case .double, .date, .timestamp, .long: 8
        case .objectID: 12
        case .decimal: 16
        case .string(let text), .javascript(let text), .symbol(let text): text.utf8.count + 5
        case .invalidString(let bytes): bytes.count + 5
        case .object(let document), .array(let document): document.bytes.count
        case .binary(_, let bytes): bytes.count + 5
        case .regex(let pattern, let options): pattern.utf8.count + options.utf8.count + 2
        case .dbPointer(let text, _): text.utf8.count + 5 + 12
        case .javascriptWithScope(let code, let scope): 4 + code.utf8.count + 5 + scope.bytes.count
        }
    }
}
