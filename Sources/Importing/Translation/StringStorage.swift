import ServerSchema

/// The storage of JSON Schema strings that are stored as another BSON type, such as `date`, or as one of several types.
struct StringStorage {
    /// The BSON types in which the strings may be stored.
    let types: [SchemaType]
    /// The code of the note that says how the strings are stored.
    let code: ImportNote.Code
    /// The text of the note that says how the strings are stored.
    let message: String

    private init(types: [SchemaType], code: ImportNote.Code, message: String) {
        (self.types, self.code, self.message) = (types, code, message)
    }

    /// Returns the storage of strings that are ObjectIds.
    /// - Parameter subject: the beginning of the note that says how the strings are stored.
    static func objectID(_ subject: String) -> StringStorage {
        StringStorage(types: [.objectId], code: .objectID, message: "\(subject) stored as objectId")
    }

    /// Creates the storage of strings with a format; `nil` if such strings are stored only as strings.
    init?(format: String) {
        switch format.lowercased() {
        case "date-time", "date": self.init(types: [.date], format)
        case "uuid", "guid", "binary": self.init(types: [.binData], format)
        case "objectid", "object-id", "mongo-id", "mongoid": self = .objectID("format \(format) is")
        // The format of Pydantic's `timedelta`, which Beanie stores as a number of seconds.
        case "duration": self.init(types: [.string] + SchemaType.numbers, format)
        default: return nil
        }
    }

    private init(types: [SchemaType], _ format: String) {
        let names = types.count > 1 ? "string or as a number of seconds" : types[0].rawValue
        self.init(types: types, code: .formatType, message: "format \(format) is stored as \(names)")
    }

    /// Whether a pattern is one of the usual patterns for exactly 24 hexadecimal digits.
    static func isHexadecimalID(_ pattern: String) -> Bool {
        var text = pattern[...]
        guard text.hasPrefix("^"), text.hasSuffix("$") else { return false }
        text = text.dropFirst().dropLast()
        if text.hasPrefix("("), text.hasSuffix(")") { text = text.dropFirst(text.hasPrefix("(?:") ? 3 : 1).dropLast() }
        guard text.hasPrefix("["), text.hasSuffix("]{24}") else { return false }
        var pieces = text.dropFirst().dropLast("]{24}".count)
        var found: Set<Substring> = []
        while !pieces.isEmpty {
            guard let piece = ["0-9", "\\d", "a-f", "A-F"].first(where: { pieces.hasPrefix($0) }) else { return false }
            found.insert(piece == "\\d" ? "0-9" : piece[...])
            pieces = pieces.dropFirst(piece.count)
        }
        return found.contains("0-9") && found.count > 1
    }
}
