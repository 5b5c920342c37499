package import BSON
import LocatedYAML
import ServerSchema

/// The `_id`s of the documents that a run is limited to.
///
/// The `_id`s are read from a file with one of them per line, in extended JSON. A line is a bare `_id`, such as
/// `{"$oid": "…"}` or `"a"`, or an object with an `_id`. mongoexport writes documents as such objects, and a run writes
/// the documents that it skipped in the same form. The file can also be one that `check --failures` wrote.
package struct IDList: Sendable {
    /// The `_id`s in the server's sort order, each once.
    package let ids: [BSONValue]

    /// Creates a list of `_id`s, which must be in the server's sort order, each once.
    package init(ids: [BSONValue]) { self.ids = ids }

    /// The bounds on a list of `_id`s; they do not limit the size of the file that contains the list.
    package struct Bounds: Sendable {
        /// The largest number of `_id`s; a run needs about 140 bytes of memory for each.
        package var ids = 1_000_000
        /// The largest total size of the `_id`s in bytes: 64 MiB.
        package var bytes = 64 << 20
        /// The largest size of a line in bytes: 16 MiB.
        package var line = 16 << 20

        package init() {}
    }

    /// Reads the `_id`s of a collection's documents from the file at `path`.
    /// - Throws: ``JobError`` if the file or a line cannot be read, a bound is exceeded, or no `_id` of the collection
    ///   is found.
    package static func read(
        at path: String, for namespace: Namespace, within bounds: Bounds = Bounds()
    ) throws(JobError) -> IDList {
        var reading = Reading(path: path, namespace: namespace, bounds: bounds)
        var lines = try opened(path, bounds)
        while let line = try next(of: &lines) { try reading.add(line, number: lines.number) }
        return try reading.list()
    }

    private static func opened(_ path: String, _ bounds: Bounds) throws(JobError) -> LineReader {
        do throws(SchemaError) { return try LineReader(path, limit: bounds.line) } catch {
            throw JobError(error.description)
        }
    }

    private static func next(of lines: inout LineReader) throws(JobError) -> String? {
        do throws(SchemaError) { return try lines.next() } catch { throw JobError(error.description) }
    }

    /// Reads the `_id`s from the text of a file; `path` appears in messages.
    /// - Throws: ``JobError`` if a line cannot be read, a bound is exceeded, or no `_id` of the collection is found.
    package static func parse(_ text: String, path: String, for namespace: Namespace) throws(JobError) -> IDList {
        var reading = Reading(path: path, namespace: namespace, bounds: Bounds())
        // Swift treats a carriage return and the line feed after it as one character, so both kinds of line ends are
        // listed.
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        for (index, line) in lines.enumerated() { try reading.add(String(line), number: index + 1) }
        return try reading.list()
    }

    /// Collects the `_id`s of a file line by line.
    private struct Reading {
        let path: String
        let namespace: Namespace
        private var ids: Set<BSONValue> = []
        private var bytes = 0
        /// The other collections whose `_id`s the file contains; at most ten, for an error message.
        private var others: Set<String> = []

        private let bounds: Bounds

        init(path: String, namespace: Namespace, bounds: Bounds) {
            (self.path, self.namespace, self.bounds) = (path, namespace, bounds)
        }

        mutating func add(_ line: String, number: Int) throws(JobError) {
            guard line.contains(where: { !$0.isWhitespace }) else { return }
            let place = SourceLocation(file: path, line: number, column: 1)
            switch try Line(line, at: place) {
            case .nothing: break
            case .of(let other, _) where other != namespace:
                if others.count < 10 { others.insert(other.description) }
            case .id(let id), .of(_, let id): if ids.insert(id).inserted { bytes += Self.size(of: id) }
            case .retracted(let other, let id?) where other == namespace:
                if ids.remove(id) != nil { bytes -= Self.size(of: id) }
            case .retracted(let other, nil) where other == namespace: (ids, bytes) = ([], 0)
            case .retracted: break
            }
            guard ids.count <= bounds.ids, bytes <= bounds.bytes else {
                let bound = ids.count > bounds.ids ? "\(bounds.ids) _ids" : "\(bounds.bytes >> 20) MiB of _ids"
                throw JobError("the list has more than \(bound): divide it", at: place)
            }
        }

        func list() throws(JobError) -> IDList {
            guard !ids.isEmpty else {
                let hint = others.isEmpty ? "" : "; it has some of \(others.sorted().joined(separator: ", "))"
                throw JobError("\(path) holds no _id of \(namespace)\(hint)")
            }
            return IDList(ids: ids.sorted { BSONOrder.precedes($0, $1) })
        }

        private static func size(of id: BSONValue) -> Int { BSONDocument([("", id)]).bytes.count }
    }

    private enum Line {
        case nothing
        case id(BSONValue)
        case of(Namespace, BSONValue)
        /// A line of `check --failures` that withdraws earlier lines: all lines for the document with this `_id` or, if
        /// the `_id` is `nil`, all lines for the collection.
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
                        #"an object without "_id": write {"_id": …}, or the _id itself if it is not an object"#,
                        at: place)
                }
                self = .id(id)
            }
        }

        private static func namespace(_ record: BSONDocument, _ place: SourceLocation) throws(JobError) -> Namespace {
            guard let database = record["database"]?.text, let collection = record["collection"]?.text else {
                throw JobError(
                    #"a record without "database" and "collection": shipshape did not write it"#, at: place)
            }
            return Namespace(database: database, collection: collection)
        }

        /// Returns the `_id` in a line of the file that `check --failures` writes.
        /// - Throws: ``JobError`` if the setting `ids` was `hash` or `none` when the file was written, which hides the
        ///   `_id`s.
        private static func id(_ record: BSONDocument, _ place: SourceLocation) throws(JobError) -> BSONValue {
            let id = record["_id"] ?? .null
            let isHash = id.text.map { $0.count == 21 && $0.first == "#" && $0.dropFirst().allSatisfy(\.isHexDigit) }
            guard id != .null, isHash != true else {
                throw JobError("the _ids of this file are hidden: write it with SHIPSHAPE_IDS=show", at: place)
            }
            return id
        }
    }
}
