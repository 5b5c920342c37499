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

extension Array {
    /// The elements in runs of at most so many, and so many bytes, unless one element alone is larger.
    package func slices(count: Int = .max, bytes: Int, size: (Element) -> Int) -> [[Element]] {
        var slices: [[Element]] = []
        var start = 0
        var total = 0
        for (index, element) in enumerated() {
            let added = size(element)
            if index > start, total + added > bytes || index - start == count {
                slices.append(Array(self[start..<index]))
                (start, total) = (index, 0)
            }
            total += added
        }
        return start < endIndex ? slices + [Array(self[start...])] : slices
    }
}

extension [BSONValue] {
    /// A quarter of what the server takes as one document.
    private static var sliceSize: Int { 4 << 20 }
    /// What an element of a list takes besides its value, at most: its type and its number.
    private static var overhead: Int { 10 }

    /// The values in runs that fit a command each: of 4 MiB at most, unless one value alone is larger.
    /// - Parameter count: the most values of a run.
    package func commandSlices(count: Int = .max) -> [[BSONValue]] {
        slices(count: count, bytes: Self.sliceSize) { $0.byteCount + Self.overhead }
    }
}
