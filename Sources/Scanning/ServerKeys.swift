import BSON
import Checking
import Mongo
import ServerSchema

/// The documents that share keys in a unique index with a collation or a filter, which only the server applies.
///
/// The server makes the keys of the index as ``UniqueLog`` describes, sorts them, and numbers the documents of each
/// key. The client sees by the number 1 where the next key begins.
struct ServerKeys {
    let index: UniqueKey
    let number: Int

    private typealias Path = [Substring]

    private var paths: [Path] { index.paths.map { $0.split(separator: ".") } }

    /// The paths of the index and the paths of the objects that contain them, the shorter ones first.
    private var prefixes: [Path] {
        let all = Set(paths.flatMap { path in path.indices.map { Path(path[...$0]) } })
        return all.sorted { ($0.count, $0.joined(separator: ".")) < ($1.count, $1.joined(separator: ".")) }
    }

    /// Calls `body` with an answer of the server for each document that the index refuses, and with the number of the
    /// key that the document shares.
    /// - Parameter options: The options of the command, such as a read concern.
    /// - Throws: ``MongoError``, or an error of `body`.
    func read(
        _ collection: MongoCollection, _ options: BSONDocument, keepingValues: Bool,
        _ body: (Answer, _ key: Int) throws -> Void
    ) throws {
        let collation = index.collation ?? ["locale": "simple"]
        let options = options.appending("collation", .object(collation)).appending("allowDiskUse", true)
        func read(_ stages: [BSONDocument], _ body: (Answer) throws -> Void) throws {
            var cursor = collection.aggregate(stages, options: options)
            while let answer = try cursor.next() { try body(Answer(BSONDocument(copying: answer))) }
        }
        var (key, first) = (0, nil as Answer?)
        // A list can have a key several times, and the index has it once.
        var lists: Set<IDKey> = []
        let (keys, parallel) = stages(keepingValues: keepingValues)
        try read(keys) { answer in
            if answer.isFirst { (key, first, lists) = (key + 1, answer, []) }
            if answer.isList || !lists.isEmpty, !lists.insert(IDKey(answer.id)).inserted { return }
            guard !answer.isFirst else { return }
            if let known = first { try body(known, key) }
            first = nil
            try body(answer, key)
        }
        guard let parallel else { return }
        lists = []
        try read(parallel) { if lists.insert(IDKey($0.id)).inserted { try body($0, 0) } }
    }

    /// What the server says of a document that has a key.
    struct Answer {
        /// The document `{_id, v}`, where `v` is the first value of the key; without it if values are not kept.
        let document: BSONDocument
        let id: BSONValue
        let fault: UniqueFault
        fileprivate let isFirst: Bool
        fileprivate let isList: Bool

        fileprivate init(_ document: BSONDocument) {
            self.document = document
            id = document["_id"] ?? .undefined
            fault = UniqueFault(rawValue: UInt8(document["fault"]?.integer ?? 0)) ?? .duplicate
            isFirst = document["n"]?.integer == 1
            isList = document["list"]?.isTrue == true
        }
    }

    /// Returns the stages that output one document for each key of each document, sorted by the keys, and those that
    /// output the documents with lists at two paths; `nil` if there can be none.
    private func stages(keepingValues: Bool) -> (keys: [BSONDocument], parallel: [BSONDocument]?) {
        let prefixes = prefixes
        /// The name of the value at a path in the documents between the stages, or of its flag.
        func name(_ path: some Sequence<Substring>, _ letter: String = "v") -> String {
            letter + String(prefixes.firstIndex { $0.elementsEqual(path) } ?? 0)
        }
        let ends = paths.map { name($0) }
        let flags = prefixes.map { name($0, "l") }
        let roots = prefixes.filter { $0.count == 1 }.map { (name($0), BSONValue.string("$\($0[0])")) }
        var stages: [BSONDocument] = index.filter.map { [["$match": .object($0)]] } ?? []
        stages.append(["$project": .object(BSONDocument(roots))])
        for path in prefixes {
            let (own, holder) = (name(path), name(path.dropLast()))
            let value = BSONValue.string("$\(own)")
            if path.count > 1 {
                let found: BSONValue = .string("$\(holder).\(path[path.count - 1])")
                stages.append(set([(own, when(type(of: "$\(holder)", in: ["object"]), found, "$$REMOVE"))]))
            }
            // An empty list is a value that only another empty list equals. A longer path finds nothing in it.
            let kept = ends.contains(own) ? when(["$eq": [value, []]], ["$literal": Self.empty], value) : value
            stages.append(set([(name(path, "l"), ["$isArray": [value]]), (own, kept)]))
            stages.append(["$unwind": ["path": value, "preserveNullAndEmptyArrays": true]])
        }
        // The index has no keys of a document with lists at two of its paths.
        let parallel = prefixes.indices.flatMap { left in
            prefixes.indices[(left + 1)...].filter { !prefixes[$0].starts(with: prefixes[left]) }.map { right in
                BSONValue.object(BSONDocument([(flags[left], BSONValue.bool(true)), (flags[right], .bool(true))]))
            }
        }
        let refused: [BSONDocument] = [
            ["$match": ["$or": .array(of: parallel)]],
            ["$project": ["fault": ["$literal": .integer(Int(UniqueFault.arrays.rawValue))]]],
        ]
        let all = stages
        if !parallel.isEmpty { stages.append(["$match": ["$nor": .array(of: parallel)]]) }
        if index.isSparse {
            let some = ends.map { BSONValue.object(BSONDocument([($0, BSONValue.object(["$exists": true]))])) }
            stages.append(["$match": ["$or": .array(of: some)]])
        }
        // A stored `undefined` equals the value of an empty list.
        let key = BSONDocument(
            ends.map {
                let known: BSONValue = ["$ifNull": [.string("$\($0)"), nil]]
                return ($0, when(type(of: "$\($0)", in: ["undefined"]), ["$literal": Self.empty], known))
            })
        stages.append(set([("k", .object(key))]))
        stages.append([
            "$setWindowFields": [
                "partitionBy": "$k", "sortBy": ["_id": 1], "output": ["n": ["$documentNumber": [:]]],
            ]
        ])
        let isNull: BSONValue = ["$or": .array(of: ends.map { type(of: "$\($0)", in: ["missing", "null"]) })]
        func code(_ fault: UniqueFault) -> BSONValue { ["$literal": .integer(Int(fault.rawValue))] }
        let answer: [(String, BSONValue)] = [
            ("n", 1), ("list", ["$or": .array(of: flags.map { .string("$\($0)") })]),
            ("fault", when(isNull, code(.null), code(.duplicate))),
        ]
        let shown: [(String, BSONValue)] = keepingValues ? [("v", .string("$\(ends[0])"))] : []
        stages.append(["$project": .object(BSONDocument(answer + shown))])
        return (stages, parallel.isEmpty ? nil : all + refused)
    }

    /// The value that stands for an empty list, and equals no value of a document.
    private static let empty = BSONValue.objectID(ObjectID(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max)))

    private func set(_ fields: [(String, BSONValue)]) -> BSONDocument { ["$set": .object(BSONDocument(fields))] }

    private func when(_ condition: BSONValue, _ value: BSONValue, _ other: BSONValue) -> BSONValue {
        ["$cond": [condition, value, other]]
    }

    private func type(of value: String, in types: [String]) -> BSONValue {
        ["$in": [["$type": .string(value)], .array(of: types.map { .string($0) })]]
    }
}
