import BSON
import Mongo

/// Reads what the journal of a chunk has to hold: the touched fields of each document before and after, computed by the
/// server, and no whole document.
struct JournalReading {
    let chunk: Chunk
    let phase: Phase
    let collection: MongoCollection
    /// The collection that the job was planned on: should it be replaced meanwhile, the server refuses the read.
    let collectionUUID: BSONValue?

    private static let beforeMark = "__shipshape_before"
    private static let placesMark = "__shipshape_places"
    private static let afterName = "a"

    func run() throws -> ChunkJournal {
        var journal = ChunkJournal(touched: phase.touched)
        let options: BSONDocument = [
            "hint": ["_id": 1], "comment": "shipshape journal", "readConcern": ["level": "majority"],
        ]
        var cursor = collection.aggregate(
            pipeline, options: collectionUUID.map { options.appending("collectionUUID", $0) } ?? options)
        while let view = try cursor.next() {
            guard let id = try view.find("_id"), let before = try view.find(Self.beforeMark),
                let after = try view.find(Self.afterName)
            else { continue }
            let places = try view.find(Self.placesMark).map { try view.value($0).document?.values ?? [] }
            try journal.add(
                id, of: view, before: try view.document(before), after: try view.document(after),
                positions: places.map { $0.map { $0.integer ?? -1 } })
        }
        return journal
    }

    private var pipeline: [BSONDocument] {
        let fields = BSONDocument(phase.touched.map { ($0, .string("$\($0)")) })
        var marks: [(String, BSONValue)] = [(Self.beforeMark, .object(fields))]
        if phase.removesFields { marks.append((Self.placesMark, Self.places(of: phase.touched))) }
        // Not `$project`: where the document has a list of that name, it puts the fields into each element of the list.
        let kept = ["_id"] + marks.map(\.0)
        let entry = kept.map { ($0, BSONValue.string("$\($0)")) } + [(Self.afterName, .object(fields))]
        return [["$match": .object(chunk.filter(where: phase.needs))], ["$set": .object(BSONDocument(marks))]]
            + phase.neededPipeline + [["$replaceWith": .object(BSONDocument(entry))]]
    }

    /// Where the fields stand among all fields of the document.
    private static func places(of names: [String]) -> BSONValue {
        let all: BSONValue = ["$map": ["input": ["$objectToArray": "$$ROOT"], "in": "$$this.k"]]
        let places = names.map { BSONValue.object(["$indexOfArray": ["$$names", ["$literal": .string($0)]]]) }
        return ["$let": ["vars": ["names": all], "in": .array(of: places)]]
    }
}
