import BSON

/// Converts names and constants to the YAML notation that a job file uses between braces.
enum YAMLText {
    /// Returns a name or a path for a job file, in quotation marks if a YAML reader might not read it as a string.
    static func word(_ text: String) -> String { isBare(text) ? text : text.quotedAsYAML }

    private static func isBare(_ text: String) -> Bool {
        guard let first = text.utf8.first, isLetter(first), !readOtherwise.contains(text.lowercased()) else {
            return false
        }
        return text.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "-./".utf8.contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "_")
    }

    /// Words that YAML readers may read as a bool or as null.
    private static let readOtherwise: Set = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]

    /// Returns a constant in a notation from which the reader of job files gets the same value with the same type.
    static func literal(_ value: BSONValue) -> String {
        switch value {
        case .string(let text): text.quotedAsYAML
        case .int(let number): "\(number)"
        case .double(let number) where number.isFinite: "\(number)"
        case .bool(let flag): flag ? "true" : "false"
        case .null: "null"
        case .long(let number): "{$numberLong: \"\(number)\"}"
        case .decimal(let number): "{$numberDecimal: \"\(number)\"}"
        case .array(let elements): "[\(elements.values.map(literal).joined(separator: ", "))]"
        case .object(let document): object(document)
        case .date: (try? value.extendedJSON(.relaxed)) ?? "null"
        default: (try? value.extendedJSON(.canonical)) ?? "null"
        }
    }

    private static func object(_ document: BSONDocument) -> String {
        let members = ((try? document.elements()) ?? []).map { "\(word($0.name)): \(literal($0.value))" }
        return "{\(members.joined(separator: ", "))}"
    }
}
