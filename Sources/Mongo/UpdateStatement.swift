package import BSON

/// One statement of the `update` command.
package struct UpdateStatement: Hashable, Sendable {
    /// Which documents.
    package var filter: BSONDocument
    /// What becomes of them: operators, a pipeline (an `array`), or a whole document.
    package var update: BSONValue
    /// Whether all that fit are updated, or the first.
    package var isMulti: Bool
    /// Whether a document is made where none fits; never on users' data.
    package var isUpsert: Bool
    /// The index to use, by its name or its keys.
    package var hint: BSONValue?
    /// Filters of the positions that `$[name]` means.
    package var arrayFilters: [BSONDocument]
    /// How strings compare.
    package var collation: BSONDocument?

    /// Makes a statement.
    package init(
        _ filter: BSONDocument, _ update: BSONValue, isMulti: Bool = false, isUpsert: Bool = false,
        hint: BSONValue? = nil, arrayFilters: [BSONDocument] = [], collation: BSONDocument? = nil
    ) {
        self.filter = filter
        self.update = update
        self.isMulti = isMulti
        self.isUpsert = isUpsert
        self.hint = hint
        self.arrayFilters = arrayFilters
        self.collation = collation
    }

    /// As the command takes it.
    var document: BSONDocument {
        var builder = BSONBuilder()
        builder.append("q", .object(filter))
        builder.append("u", update)
        if isMulti { builder.append("multi", true) }
        if isUpsert { builder.append("upsert", true) }
        if let hint { builder.append("hint", hint) }
        if !arrayFilters.isEmpty { builder.append("arrayFilters", .array(of: arrayFilters.map { .object($0) })) }
        if let collation { builder.append("collation", .object(collation)) }
        return builder.finish()
    }
}
