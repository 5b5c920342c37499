/// The full name of a collection, with the name of its database.
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

    /// Reads `database.collection`, divided at the first dot.
    ///
    /// Returns `nil` if there is no dot, if a name is empty, or if the database's name has a character that is not
    /// allowed.
    public init?(_ text: String) {
        guard let dot = text.firstIndex(of: "."), dot != text.startIndex, text.index(after: dot) != text.endIndex,
            !text[..<dot].contains(where: { #"/\ "$"#.contains($0) || $0 == "\0" })
        else { return nil }
        self.init(database: String(text[..<dot]), collection: String(text[text.index(after: dot)...]))
    }
}

extension Namespace: CustomStringConvertible, Comparable {
    /// The namespace as text, in the form `database.collection`.
    public var description: String { "\(database).\(collection)" }

    /// Orders by the text of the namespaces.
    public static func < (left: Namespace, right: Namespace) -> Bool { left.description < right.description }
}
