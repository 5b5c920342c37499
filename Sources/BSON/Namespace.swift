/// The full name of a collection: its database and its name in the database.
public struct Namespace: Hashable, Sendable {
    /// The database's name.
    public let database: String
    /// The collection's name; it may contain dots.
    public let collection: String

    /// Creates a namespace from two names.
    public init(database: String, collection: String) {
        self.database = database
        self.collection = collection
    }

    /// Reads `database.collection`, split at the first dot; `nil` if one of the two is empty, or if a database cannot
    /// have such a name.
    public init?(_ text: String) {
        guard let dot = text.firstIndex(of: "."), dot != text.startIndex, text.index(after: dot) != text.endIndex,
            !text[..<dot].contains(where: { #"/\ "$"#.contains($0) || $0 == "\0" })
        else { return nil }
        self.init(database: String(text[..<dot]), collection: String(text[text.index(after: dot)...]))
    }
}

extension Namespace: CustomStringConvertible, Comparable {
    /// `database.collection`.
    public var description: String { "\(database).\(collection)" }

    /// Orders by name.
    public static func < (left: Namespace, right: Namespace) -> Bool { left.description < right.description }
}
