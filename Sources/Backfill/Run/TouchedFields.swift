import BSON
import JobState
import Jobs
import Mongo
import Steps

/// Reads the fields that a phase touches in each document, before and after the phase, usually for the journal.
///
/// The server computes these fields, so no whole document is transferred.
struct TouchedFields: ~Copyable {
    private let names: [String]
    private let evidence: DocumentEvidence
    private let collection: MongoCollection
    private var cursor: Cursor

    private static let beforeMark = "__shipshape_before"
    private static let placesMark = "__shipshape_places"
    private static let evidenceMark = "__shipshape_evidence"
    private static let afterName = "a"

    /// The size of the touched fields in bytes above which the old fields are read separately.
    ///
    /// Below this size, one document of at most 16 MiB can hold both the old and the new fields.
    private static let large = 7_500_000

    init(
        _ scope: ReadScope, of phase: Phase, in collection: MongoCollection, collectionUUID: BSONValue?,
        evidence: DocumentEvidence
    ) {
        names = phase.touched
        self.evidence = evidence
        self.collection = collection
        cursor = collection.aggregate(
            scope.stages(where: phase.needs, quick: phase.steps.quickNeed) + Self.stages(of: phase, evidence),
            options: scope.options("journal", collectionUUID.map { ["collectionUUID": $0] } ?? [:]))
    }

    mutating func next() throws -> DueDocument? {
        let (names, evidence, collection) = (names, evidence, collection)
        while let view = try cursor.next() {
            guard let id = try view.find("_id"), let before = try view.find(Self.beforeMark),
                let after = try view.find(Self.afterName)
            else { continue }
            let places = try view.find(Self.placesMark).map { try view.value($0).document?.values ?? [] }
            let positions = places.map { $0.map { $0.integer ?? -1 } }
            let others = try view.find(Self.evidenceMark).map { BSONDocument(copying: try view.document($0)) }
            let value = try view.value(id)
            let willBe = BSONDocument(copying: try view.document(after))
            // The old fields of a large document are read separately. If the document changes between the two reads,
            // the digest of the new values in the journal is wrong, so undo will skip the document.
            let was =
                before.type == .object
                ? BSONDocument(copying: try view.document(before))
                : try Self.read(names, of: value, in: collection)
            guard let was else { continue }
            return DueDocument(
                id: value,
                change: DueDocument.Change(
                    before: was, after: willBe, positions: positions, evidence: try evidence.digest(of: others ?? [:])))
        }
        return nil
    }

    private static func read(
        _ names: [String], of id: BSONValue, in collection: MongoCollection
    ) throws(MongoError) -> BSONDocument? {
        let projection = BSONDocument((["_id"] + names).map { ($0, 1) })
        var cursor = collection.find(
            ["_id": ["$eq": id]],
            options: [
                "projection": .object(projection), "limit": 1, "comment": "shipshape journal",
                "readConcern": ["level": "majority"],
            ])
        return try cursor.nextDocument()
    }

    private static func stages(of phase: Phase, _ evidence: DocumentEvidence) -> [BSONDocument] {
        let fields = BSONDocument(phase.touched.map { ($0, .string("$\($0)")) })
        let isLarge: BSONValue = ["$gt": [["$bsonSize": .object(fields)], .integer(large)]]
        var marks: [(String, BSONValue)] = [(beforeMark, ["$cond": [isLarge, true, .object(fields)]])]
        if phase.removesFields { marks.append((placesMark, places(of: phase.touched))) }
        if !evidence.names.isEmpty {
            let others = BSONValue.object(BSONDocument(evidence.names.map { ($0, .string("$\($0)")) }))
            let isLong: BSONValue = ["$gt": [["$bsonSize": others], .integer(DocumentEvidence.largest)]]
            marks.append((evidenceMark, ["$cond": [isLong, ["$literal": [:]], others]]))
        }
        // The last stage is not `$project`: if the document has an array with one of the names in `kept`, `$project`
        // would put the fields into each element of the array.
        let kept = ["_id"] + marks.map(\.0)
        let entry = kept.map { ($0, BSONValue.string("$\($0)")) } + [(afterName, .object(fields))]
        return [["$set": .object(BSONDocument(marks))]] + phase.neededPipeline
            + [["$replaceWith": .object(BSONDocument(entry))]]
    }

    private static func places(of names: [String]) -> BSONValue {
        let all: BSONValue = ["$map": ["input": ["$objectToArray": "$$ROOT"], "in": "$$this.k"]]
        // The names are compared by their bytes, because `$indexOfArray` would use the collection's collation.
        let places = names.map { name -> BSONValue in
            let isThat = Expression.sameText(.variable("this"), .constant(.string(name)))
            return ["$indexOfArray": [["$map": ["input": "$$names", "in": isThat.bson]], true]]
        }
        return ["$let": ["vars": ["names": all], "in": .array(of: places)]]
    }
}
