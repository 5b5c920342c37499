package import BSON

package struct UpdateStatement: Hashable, Sendable {
    package var filter: BSONDocument
    /// The change: operators, a pipeline (an `array`), or a whole document.
    package var update: BSONValue
    /// Whether all matching documents are updated, or only the first.
    package var isMulti: Bool
    /// Whether a document is inserted if none matches; this program never sets it for the user's collections.
    package var isUpsert: Bool
    /// The index to use, by its name or its keys; `nil` lets the server choose.
    package var hint: BSONValue?
    /// The filters for the array elements that `$[name]` refers to.
    package var arrayFilters: [BSONDocument]
    /// The collation for comparing strings; `nil` for the collection's default collation.
    package var collation: BSONDocument?

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

    /// About how many bytes the statement takes in a command.
    package var byteCount: Int { filter.bytes.count + update.byteCount + 100 }

    /// The statement as the `update` command takes it.
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

package struct DeleteStatement: Hashable, Sendable {
    package var filter: BSONDocument
    /// Whether all matching documents are removed, or only the first.
    package var isMulti: Bool
    /// The index to use, by its name or its keys; `nil` lets the server choose.
    package var hint: BSONValue?
    /// The collation for comparing strings; `nil` for the collection's default collation.
    package var collation: BSONDocument?

    package init(
        _ filter: BSONDocument, isMulti: Bool = false, hint: BSONValue? = nil, collation: BSONDocument? = nil
    ) {
        self.filter = filter
        self.isMulti = isMulti
        self.hint = hint
        self.collation = collation
    }

    /// The statement as the `delete` command takes it.
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
    /// Splits the elements into slices of at most `count` elements and `bytes` bytes.
    ///
    /// An element of more than `bytes` bytes gets a slice of its own.
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
    private static var sliceSize: Int { 4 << 20 }
    /// The most bytes that an array element takes in addition to its value, for its type and its index in the array.
    private static var overhead: Int { 10 }

    /// Splits the values into slices that each fit a command: a slice has at most 4 MiB, or is a single larger value.
    /// - Parameter count: the most values in a slice.
    package func commandSlices(count: Int = .max) -> [[BSONValue]] {
        slices(count: count, bytes: Self.sliceSize) { $0.byteCount + Self.overhead }
    }
}
