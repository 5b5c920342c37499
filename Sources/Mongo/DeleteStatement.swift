package import BSON

/// One statement of the `delete` command.
package struct DeleteStatement: Hashable, Sendable {
    /// Which documents.
    package var filter: BSONDocument
    /// Whether all that fit are removed, or the first.
    package var isMulti: Bool
    /// The index to use, by its name or its keys.
    package var hint: BSONValue?
    /// How strings compare.
    package var collation: BSONDocument?

    /// Makes a statement.
    package init(
        _ filter: BSONDocument, isMulti: Bool = false, hint: BSONValue? = nil, collation: BSONDocument? = nil
    ) {
        self.filter = filter
        self.isMulti = isMulti
        self.hint = hint
        self.collation = collation
    }

    /// As the command takes it.
    var document: BSONDocument {
        var builder = BSONBuilder()
        builder.append("q", .object(filter))
        builder.append("limit", isMulti ? 0 : 1)
        if let hint { builder.append("hint", hint) }
        if let collation { builder.append("collation", .object(collation)) }
        return builder.finish()
    }
}
