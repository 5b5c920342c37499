import BSON

/// Makes a case smaller for as long as it shows what it showed before.
enum Smaller {
    private static let limit = 200

    /// Returns the smallest form of a document that was found to show the same.
    /// - Parameters:
    ///   - keeping: names of fields of the document that stay, such as `_id`.
    ///   - shows: whether a smaller document still shows it; asked ``limit`` times at most.
    static func document<Failure: Error>(
        _ document: BSONDocument, keeping: Set<String> = [], shows: (BSONDocument) throws(Failure) -> Bool
    ) throws(Failure) -> BSONDocument {
        var (smallest, asked, found) = (document, 0, true)
        while found {
            found = false
            for candidate in Self.documents(smallest, keeping: keeping) where asked < limit {
                asked += 1
                guard try shows(candidate) else { continue }
                (smallest, found) = (candidate, true)
                break
            }
        }
        return smallest
    }

    /// Returns the documents that lack one field or one element of the given one, or hold a smaller value.
    private static func documents(_ document: BSONDocument, keeping: Set<String>) -> [BSONDocument] {
        let fields = document.fields
        let without = fields.indices.filter { !keeping.contains(fields[$0].0) }.map { index in
            BSONDocument(fields[..<index] + fields[(index + 1)...])
        }
        return without
            + fields.indices.flatMap { index in
                values(fields[index].1).map { value in
                    BSONDocument(fields[..<index] + [(fields[index].0, value)] + fields[(index + 1)...])
                }
            }
    }

    private static func values(_ value: BSONValue) -> [BSONValue] {
        switch value {
        case .object(let object): return documents(object, keeping: []).map { .object($0) }
        case .array(let array):
            let values = array.values
            func with(_ rest: [BSONValue], at index: Int) -> BSONValue {
                .array(of: Array(values[..<index]) + rest + Array(values[(index + 1)...]))
            }
            return values.indices.map { with([], at: $0) }
                + values.indices.flatMap { index in Self.values(values[index]).map { with([$0], at: index) } }
        default: return []
        }
    }
}
