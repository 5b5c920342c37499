import BSON
import Mongo

/// Compares the order of values and the sizes of documents with a server's.
struct ReadingProof: GroupProof {
    var part = Proof.Part(.reading)

    private let server: MongoCollection
    private var values: InstanceGenerator
    private var turn = 0

    init(on server: MongoCollection, seed: UInt64) {
        self.server = server
        values = InstanceGenerator(random: Randomness(seed: seed))
    }

    private static let odd = OddValues.all.filter { $0.name != "a huge text" }.compactMap(\.value)

    private enum Question: String, CaseIterable {
        case order = "the order of values"
        case collation = "the order of values without texts under a collation"
        case size = "the size of a document"
    }

    mutating func next() throws(MongoError) {
        defer { turn += 1 }
        let question = Question.allCases[turn % Question.allCases.count]
        let odd = Self.odd.dropFirst(turn / Question.allCases.count * 60).prefix(60)
        // A sort takes the smallest element of a list, as an index does; `_id` is never a list.
        // A pipeline may compare objects with a repeated name in another order than an index, which is the one meant.
        let drawn = (odd.isEmpty ? (0..<60).map { _ in values.anything(depth: 2) } : Array(odd)).filter { value in
            value.type != .array && value.document?.hasDistinctNames != false
                && (question != .collation || !value.hasText)
        }
        let documents = drawn.enumerated().map { BSONDocument([("_id", .integer($0.offset)), ("v", $0.element)]) }
        guard documents.count > 1 else { return }
        do {
            switch question {
            case .order: try compareOrder(documents, question, options: .simpleCollation)
            case .collation:
                try compareOrder(documents, question, options: ["collation": ["locale": "en", "strength": 1]])
            case .size: try compareSizes(documents)
            }
        } catch {
            guard error.isAnswer else { throw error }
            part.isUnanswered(error.message)
        }
    }

    private mutating func compareOrder(
        _ documents: [BSONDocument], _ question: Question, options: BSONDocument
    ) throws(MongoError) {
        let stages: [BSONDocument] = [["$sort": ["v": 1, "_id": 1]], ["$project": ["_id": 1]]]
        let found = try server.aggregate(over: documents, stages, options: options).compactMap { $0["_id"]?.integer }
        let sorted = documents.indices.sorted { left, right in
            let order = BSONOrder.compare(documents[left]["v"] ?? .null, documents[right]["v"] ?? .null)
            return order == .equal ? left < right : order == .less
        }
        part.compared([question.rawValue], count: documents.count)
        guard found != sorted, part.wantsMore else { return }
        let at = zip(found, sorted).enumerated().first { $0.element.0 != $0.element.1 }?.offset ?? 0
        let pair = [found, sorted].compactMap { $0.indices.contains(at) ? documents[$0[at]]["v"] : nil }
        part.differ(
            question.rawValue, ["values": .array(of: pair)], program: "the second value comes first",
            server: "the first value comes first")
    }

    private mutating func compareSizes(_ documents: [BSONDocument]) throws(MongoError) {
        let found = try server.aggregate(over: documents, [["$project": ["s": ["$bsonSize": "$$ROOT"]]]])
        for (document, answer) in zip(documents, found) {
            part.compared([Question.size.rawValue])
            guard answer["s"]?.integer != document.bytes.count, part.wantsMore else { continue }
            part.differ(
                Question.size.rawValue, ["document": .object(document)], program: "\(document.bytes.count)",
                server: answer["s"].map { "\($0)" } ?? "no size")
        }
    }
}

extension BSONValue {
    fileprivate var hasText: Bool {
        switch self {
        case .string, .symbol: true
        case .array(let array), .object(let array): array.values.contains(where: \.hasText)
        default: false
        }
    }
}
