import BSON
import Jobs
import Mongo
import Steps

/// The commands that create a partner collection, with some options and the indexes of the original collection.
///
/// The keys of the indexes use the partner's field names. An index is left out if the partner lacks a field of the
/// index's key or partial filter. A partial index is also left out if one of these fields has another name in the
/// partner.
struct PartnerCreation {
    let partner: Partner
    let info: CollectionInfo

    /// The options that the partner gets from the original; `validationLevel` and `validationAction` only if it gets a
    /// validator.
    private static let carried = ["collation", "validationLevel", "validationAction"]

    struct Index {
        var spec: BSONDocument
        var isUnique: Bool { spec["unique"] == true }
        var name: String { spec["name"]?.text ?? "" }
    }

    /// Returns the command that creates the partner's collection; if `validator` is `nil`, the collection gets none.
    func command(validator: BSONDocument?) -> BSONDocument {
        var builder = BSONBuilder()
        builder.append("create", .string(partner.job.target.collection))
        for name in Self.carried where validator != nil || name == "collation" {
            if let value = info.options[name] { builder.append(name, value) }
        }
        if let validator { builder.append("validator", .object(validator)) }
        return builder.finish()
    }

    /// Returns the secondary indexes of the partner, and a note for each index of the original that the partner does
    /// not get.
    func indexes(on client: borrowing Client) throws -> (indexes: [Index], notes: [String]) {
        let reply = try client.runReadCommand(
            ["listIndexes": .string(partner.job.source.collection), "cursor": ["batchSize": 1_000]],
            on: partner.job.source.database)
        var (indexes, notes): ([Index], [String]) = ([], [])
        for spec in reply["cursor"]?.document?["firstBatch"]?.document?.values.compactMap(\.document) ?? [] {
            guard let key = spec["key"]?.document, key != ["_id": 1], spec["clustered"] != true else { continue }
            let name = spec["name"]?.text ?? ""
            let fields = try key.elements().map { (path: $0.name, order: $0.value) }
            let filter = spec["partialFilterExpression"]?.document
            let named = try fields.map(\.path) + (filter.map(Self.paths) ?? [])
            if let gone = named.first(where: isGone) {
                notes.append("the index \(name) is not created on the partner, which has no field \"\(gone)\"")
                continue
            }
            if filter != nil, named.contains(where: { renamed($0) != $0 }) {
                notes.append("the index \(name) is not created on the partner: its fields have other names there")
                continue
            }
            let renamedKey = BSONDocument(fields.map { (renamed($0.path), $0.order) })
            var copy = try spec.replacing("key", with: .object(renamedKey))
            if copy["ns"] != nil { copy = try copy.removing("ns") }
            // In a collection with a collation, an index can have the simple collation. Servers before MongoDB 9.0
            // report no collation for such an index, so the simple collation is added here.
            if copy["collation"] == nil, info.collation != nil {
                copy = copy.appending("collation", ["locale": "simple"])
            }
            indexes.append(Index(spec: copy))
        }
        return (indexes, notes)
    }

    private static func paths(of filter: BSONDocument) throws -> [String] {
        try filter.elements().flatMap { name, value -> [String] in
            guard name.hasPrefix("$") else { return [name] }
            return try value.document?.values.compactMap(\.document).flatMap(paths) ?? []
        }
    }

    /// The fields that the steps from the original to the partner move, by their old and new paths.
    private var renames: [(from: String, to: String)] {
        partner.job.forward.compactMap { located in
            let step = located.step.kind
            return step.movedFrom.map { ("\($0)", "\(step.target)") }
        }
    }

    private func renamed(_ path: String) -> String {
        for rename in renames {
            if path == rename.from { return rename.to }
            if path.hasPrefix(rename.from + ".") { return rename.to + path.dropFirst(rename.from.count) }
        }
        return path
    }

    private func isGone(_ path: String) -> Bool {
        let top = path.split(separator: ".").first.map(String.init) ?? path
        if partner.job.own.source.contains(top) { return true }
        return partner.job.forward.contains { located in
            located.step.kind.movedFrom == nil
                && located.step.kind.removed.contains { removed in
                    path == "\(removed)" || path.hasPrefix("\(removed).") || path.hasPrefix("\(removed)[")
                }
        }
    }

    /// Returns a clause for each unique index in which two of the partner's documents would have the same key.
    ///
    /// If the server cannot compute the steps that convert a document of the original collection for the partner,
    /// `clashes` is empty. A note then says that the indexes are checked only during the copy.
    func clashes(_ indexes: [Index], on client: borrowing Client) throws -> (clashes: [String], notes: [String]) {
        let unique = indexes.filter(\.isUnique)
        guard !unique.isEmpty else { return ([], []) }
        guard let stages = partner.steps(from: .source).stages else {
            return (
                [],
                ["the partner's unique indexes are checked only during the copy: the server cannot compute every step"]
            )
        }
        var clashes: [String] = []
        for index in unique {
            let fields = try index.spec["key"]?.document?.elements().map(\.name) ?? []
            let key = BSONValue.array(of: fields.map { ["$ifNull": [.string("$\($0)"), .null]] })
            var filters: [BSONDocument] = []
            if let partial = index.spec["partialFilterExpression"]?.document { filters.append(partial) }
            if index.spec["sparse"] == true {
                filters.append(["$or": .array(of: fields.map { [$0: ["$exists": true]] })])
            }
            let unwinding = fields.filter { !$0.contains(".") }.map { field -> BSONDocument in
                ["$unwind": ["path": .string("$\(field)"), "preserveNullAndEmptyArrays": true]]
            }
            var options: BSONDocument = [
                "allowDiskUse": true, "readConcern": ["level": "majority"], "comment": "shipshape partner proof",
            ]
            if let collation = index.spec["collation"] { options = options.appending("collation", collation) }
            let pipeline: [BSONDocument] =
                stages + filters.map { ["$match": .object($0)] } + unwinding + [
                    ["$group": ["_id": ["k": key, "id": "$_id"]]],
                    [
                        "$group": [
                            "_id": "$_id.k", "n": ["$sum": 1], "one": ["$min": "$_id.id"], "two": ["$max": "$_id.id"],
                        ]
                    ],
                    ["$match": ["n": ["$gt": 1]]], ["$limit": 1],
                ]
            let found = try client.collection(partner.job.source).aggregate(pipeline, options: options).documents()
            guard let clash = found.first, let one = clash["one"], let two = clash["two"] else { continue }
            let ids = try [one, two].map { try BSONDocument([("_id", $0)]).extendedJSON() }
            clashes.append(
                "the unique index \(index.name) of the partner would be violated, for example by the originals "
                    + "\(ids[0]) and \(ids[1])")
        }
        return (clashes, [])
    }
}
