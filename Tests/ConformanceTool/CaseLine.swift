import BSON
import Proving

/// A case, with its expected answer, as one line of a case file.
struct CaseLine {
    let text: String

    /// Creates the line of a case.
    /// - Throws: ``BSONError`` for a value that extended JSON cannot express.
    init(_ schema: BSONDocument, _ document: BSONDocument, _ answer: ConformanceAnswer) throws(BSONError) {
        var line: [(String, BSONValue)] = [("schema", .object(schema)), ("document", .object(document))]
        switch answer {
        case .judged(let fits): line += [("expected", .bool(fits)), ("schema_error", .null)]
        case .refused(let reason): line += [("expected", .null), ("schema_error", ["message": .string(reason)])]
        case .none: line += [("expected", .null), ("schema_error", .null)]
        }
        text = try BSONDocument(line).extendedJSON()
    }
}
