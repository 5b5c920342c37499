import BSON
import Mongo
import ServerSchema

/// What ``ExtractStep`` makes of embedded objects.
struct Extraction: ClientTransform {
    let step: ExtractStep
    /// `_id`s that objects of different content would take: none of them gets it.
    private var contested: Set<LinkKey> = []

    init(step: ExtractStep) { self.step = step }

    var reasons: [CompiledStep.Reason] {
        if case .field = step.id { [.otherDocument, .noID] } else { [.otherDocument] }
    }

    func prepared(in context: ClientContext) throws -> any ClientTransform {
        guard case .field(let name) = step.id else { return self }
        var prepared = self
        prepared.contested = try contested(by: name, in: context)
        return prepared
    }

    func outcomes(of documents: [BSONDocument], in context: ClientContext) throws -> [ClientOutcome] {
        let made = try documents.map { try children(of: $0, in: context) }
        let ids = made.flatMap { $0?.documents.compactMap { $0["_id"] } ?? [] }
        let present = try Lookup(namespace: step.to).documents(ids, in: context)
        return made.map { made in
            guard let made else { return .leave(.noID) }
            var created: [ClientCreation] = []
            for child in made.documents {
                let id = child["_id"] ?? .null
                guard !contested.contains(LinkKey(id)) else { return .leave(.otherDocument) }
                if let there = present[LinkKey(id)]?.first {
                    guard there == child else { return .leave(.otherDocument) }
                } else {
                    created.append(ClientCreation(namespace: step.to, document: child))
                }
            }
            return .change(made.value, creating: created)
        }
    }

    /// The documents that a document's objects become, and what takes the place of the objects; `nil` when one of them has
    /// no `_id`.
    private func children(
        of document: BSONDocument, in context: ClientContext
    ) throws -> (documents: [BSONDocument], value: BSONValue)? {
        guard let value = try document.value(at: step.field) else { return ([], .null) }
        let list: [BSONValue] = if case .array(let list) = value { list.values } else { [value] }
        var documents: [BSONDocument] = []
        var times: [BSONDocument: Int] = [:]
        var links: [BSONValue] = []
        for element in list {
            guard case .object(let object) = element else {
                links.append(element)
                continue
            }
            times[object, default: 0] += 1
            guard
                let id = id(of: object, number: times[object] ?? 1, in: document, context)
            else { return nil }
            documents.append(
                BSONDocument(
                    [("_id", id)] + (try object.elements()).filter { $0.name != "_id" }.map { ($0.name, $0.value) }))
            links.append(id)
        }
        guard case .array = value else { return (documents, links.first ?? .null) }
        return (documents, .array(of: links))
    }

    /// Derived from the object's content too: what a user makes of the object meanwhile is another document.
    private func id(
        of object: BSONDocument, number: Int, in document: BSONDocument, _ context: ClientContext
    ) -> BSONValue? {
        switch step.id {
        case .field(let name):
            // `nil` in a ternary beside it would be the null value.
            guard let id = object[name], id.isLink else { return .none }
            return id
        case .generated(let type):
            let source = BSONDocument([
                ("_id", document["_id"] ?? .null), ("number", .integer(number)), ("object", .object(object)),
            ])
            let id = GeneratedID(job: context.job, place: step.field.description, of: .object(source))
            return type == .uuid ? id.uuid : id.objectID
        }
    }

    /// The `_id`s that objects of different content name, found by the server in one pass.
    private func contested(by name: String, in context: ClientContext) throws -> Set<LinkKey> {
        let object = Expression(.string("$o"))
        let pipeline: [BSONDocument] = [
            ["$match": .object(step.field.isReachable.filter)],
            ["$project": ["_id": 0, "o": Expression.field(step.field).bson]], ["$unwind": "$o"],
            ["$match": .object(object.hasType("object").filter)],
            ["$group": ["_id": ["id": .string("$o.\(name)"), "o": "$o"]]],
            ["$group": ["_id": "$_id.id", "n": ["$sum": 1]]], ["$match": ["n": ["$gt": 1]]],
        ]
        var cursor = context.collection.aggregate(
            pipeline,
            options: ["allowDiskUse": true, "comment": "shipshape extract", "readConcern": ["level": "majority"]])
        var contested: Set<LinkKey> = []
        while let document = try cursor.nextDocument() {
            guard contested.count < Backlinks.most else {
                throw BackfillError(
                    .schemaMismatch,
                    "objects of \"\(step.field)\" that differ have the same \"\(name)\", more than \(Backlinks.most) times: "
                        + "let the _id be generated")
            }
            if let id = document["_id"] { contested.insert(LinkKey(id)) }
        }
        return contested
    }
}
