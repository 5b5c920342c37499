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

    /// From which size on the touched fields as they are do not travel beside what they will be: both in one have 16 MiB.
    private static let large = 7_500_000

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
            let positions = places.map { $0.map { $0.integer ?? -1 } }
            if before.type == .object {
                try journal.add(
                    id, of: view, before: try view.document(before), after: try view.document(after),
                    positions: positions)
            } else if let before = try read(try view.value(id)) {
                // Should it have changed between the two looks, undo finds another digest, and leaves it alone.
                try journal.add(
                    id, of: view, before: before.view, after: try view.document(after), positions: positions)
            }
        }
        return journal
    }

    /// The touched fields of a document as they are, read by themselves.
    private func read(_ id: BSONValue) throws(MongoError) -> BSONDocument? {
        let projection = BSONDocument((["_id"] + phase.touched).map { ($0, 1) })
        var cursor = collection.find(
            ["_id": ["$eq": id]],
            options: [
                "projection": .object(projection), "limit": 1, "comment": "shipshape journal",
                "readConcern": ["level": "majority"],
            ])
        return try cursor.nextDocument()
    }

    private var pipeline: [BSONDocument] {
        let fields = BSONDocument(phase.touched.map { ($0, .string("$\($0)")) })
        let isLarge: BSONValue = ["$gt": [["$bsonSize": .object(fields)], .integer(Self.large)]]
        var marks: [(String, BSONValue)] = [(Self.beforeMark, ["$cond": [isLarge, true, .object(fields)]])]
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
        // By their bytes, as `$indexOfArray` would look for a text by the collection's collation.
        let places = names.map { name -> BSONValue in
            let isThat = Expression.sameText(.variable("this"), .constant(.string(name)))
            return ["$indexOfArray": [["$map": ["input": "$$names", "in": isThat.bson]], true]]
        }
        return ["$let": ["vars": ["names": all], "in": .array(of: places)]]
    }
}
