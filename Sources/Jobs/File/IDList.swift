package import BSON
import LocatedYAML
import ServerSchema

/// The `_id`s of a file, which a run is to be limited to: a line each, in extended JSON.
///
/// A line is an `_id` as it stands, such as `{"$oid": "…"}` or `"a"`; an object with an `_id`, as mongoexport writes
/// documents and a run writes what it skipped; or a record of the file that `check --failures` writes.
package struct IDList: Sendable {
    /// The `_id`s in the server's order, each once.
    package let ids: [BSONValue]

    /// Takes `_id`s in the server's order, each once.
    package init(ids: [BSONValue]) { self.ids = ids }

    /// Reads the file at `path`, of it what concerns a collection.
    /// - Throws: ``JobError`` with the line of whatever has another form.
    package static func read(at path: String, for namespace: Namespace) throws(JobError) -> IDList {
        try parse(try YAMLFile.text(at: path), path: path, for: namespace)
    }

    /// Reads a file's text; `path` is for messages.
    package static func parse(_ text: String, path: String, for namespace: Namespace) throws(JobError) -> IDList {
        var ids: Set<BSONValue> = []
        var others: Set<String> = []
        // A line feed behind a carriage return is one character with it.
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        for (index, line) in lines.enumerated() {
            guard line.contains(where: { !$0.isWhitespace }) else { continue }
            let place = SourceLocation(file: path, line: index + 1, column: 1)
            switch try Line(String(line), at: place) {
            case .nothing: break
            case .id(let id): ids.insert(id)
            case .of(let other, _) where other != namespace: others.insert(other.description)
            case .of(_, let id): ids.insert(id)
            case .retracted(let other, let id?): if other == namespace { ids.remove(id) }
            case .retracted(let other, nil): if other == namespace { ids.removeAll() }
            }
        }
        guard !ids.isEmpty else {
            let hint = others.isEmpty ? "" : "; it has some of \(others.sorted().joined(separator: ", "))"
            throw JobError("\(path) holds no _id of \(namespace)\(hint)")
        }
        return IDList(ids: ids.sorted { BSONOrder.precedes($0, $1) })
    }

    private enum Line {
        case nothing
        case id(BSONValue)
        case of(Namespace, BSONValue)
        /// Of one document, or of all.
        case retracted(Namespace, BSONValue?)

        init(_ text: String, at place: SourceLocation) throws(JobError) {
            let value: BSONValue
            do throws(BSONError) { value = try BSONValue(extendedJSON: text) } catch {
                throw JobError(
                    "not a line of extended JSON (\(error)): write each _id on a line of its own, such as "
                        + #"{"$oid": "507f1f77bcf86cd799439011"}"#, at: place)
            }
            guard let record = value.document else {
                self = .id(value)
                return
            }
            switch record["record"]?.text {
            case "header" where record["_id"] == nil, "result" where record["_id"] == nil: self = .nothing
            case "failure": self = .of(try Self.namespace(record, place), try Self.id(record, place))
            case "retracted" where record["_id"] == nil: self = .retracted(try Self.namespace(record, place), nil)
            case "retracted": self = .retracted(try Self.namespace(record, place), try Self.id(record, place))
            default:
                guard let id = record["_id"] else {
                    throw JobError(
                        #"an object without "_id": write {"_id": …}, or the _id by itself where it is no object"#,
                        at: place)
                }
                self = .id(id)
            }
        }

        private static func namespace(_ record: BSONDocument, _ place: SourceLocation) throws(JobError) -> Namespace {
            guard let database = record["database"]?.text, let collection = record["collection"]?.text else {
                throw JobError(
                    #"a record without "database" and "collection": it was written by something else"#, at: place)
            }
            return Namespace(database: database, collection: collection)
        }

        /// What `--ids hash` and `--ids none` wrote names no document.
        private static func id(_ record: BSONDocument, _ place: SourceLocation) throws(JobError) -> BSONValue {
            let id = record["_id"] ?? .null
            let isHash = id.text.map { $0.count == 21 && $0.first == "#" && $0.dropFirst().allSatisfy(\.isHexDigit) }
            guard id != .null, isHash != true else {
                throw JobError("the _ids of this file are hidden: write it with --ids show", at: place)
            }
            return id
        }
    }
}
