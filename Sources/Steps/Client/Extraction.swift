import BSON
import Checking
import JobState
import Jobs
import Mongo
import ServerSchema

/// Runs an ``ExtractStep`` on the client.
struct Extraction: ClientTransform {
    let step: ExtractStep
    /// The `_id`s that the step would give to several objects with different contents.
    ///
    /// The step skips each document that contains one of these objects.
    let contested: Set<IDKey>
    /// The job's schemas for the collection in which the step creates documents.
    let schemas: [CompiledSchema]

    var readsID: Bool { step.id.isGenerated }

    func collect(into preparation: inout ClientPreparation, in context: ClientContext) throws {
        guard case .field(let name) = step.id else { return }
        preparation.excluded = try contested(by: name, in: context)
    }

    func outcomes(of documents: [BSONDocument], in context: ClientContext) throws -> [ClientOutcome] {
        let made = try documents.map { try children(of: $0, in: context) }
        let ids = made.flatMap { $0.documents.compactMap { $0["_id"] } }
        let lookup = Lookup(namespace: step.to)
        let present = try lookup.documents(ids, in: context)
        let wanted = Set(ids.map { IDKey($0) })
        // The server treats some `_id`s as equal that the client treats as different: equal fractions of different
        // numeric types, and strings that a collation treats as equal. The documents in `present` may therefore have
        // `_id`s that are not in `wanted`.
        let hasEquals = present.keys.contains { !wanted.contains($0) }
        return try zip(documents, made).map { document, made in
            if let reason = made.reason { return .leave(reason) }
            guard !made.documents.isEmpty else { return .nothing }
            var created: [ClientCreation] = []
            for child in made.documents {
                let id = child["_id"] ?? .null
                guard !contested.contains(IDKey(id)) else { return .leave(.otherDocument) }
                if let there = present[IDKey(id)]?.first {
                    guard there == child else { return .leave(.otherDocument) }
                } else {
                    if hasEquals, try !lookup.documents([id], in: context).isEmpty { return .leave(.otherDocument) }
                    // A document that does not fit the schema is not created: it would be unsyncable, and would count
                    // against the number of unsyncable documents that the operator allows.
                    for schema in schemas {
                        guard try schema.check(child.view) != .certain else { return .leave(.unfitChild) }
                    }
                    created.append(ClientCreation(namespace: step.to, document: child))
                }
            }
            return try .change(document, [(step.target, made.value)], creating: created)
        }
    }

    /// The new documents that the step creates from the embedded objects of one document.
    private struct Children {
        var documents: [BSONDocument] = []
        /// The value that replaces the embedded objects: a link or a list of links to the new documents.
        var value = BSONValue.null
        /// The reason why the document is skipped; `nil` if it is not.
        var reason: CompiledStep.Reason?
    }

    private func children(of document: BSONDocument, in context: ClientContext) throws -> Children {
        guard let value = try document.value(at: step.field.local) else { return Children() }
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
            guard object["_id"] == nil || step.id == .field("_id") else { return Children(reason: .ownID) }
            // The server replaces an empty timestamp by its own time. The created document would therefore differ from
            // the object, and a later run would not recognize it.
            guard !object.values.contains(.timestamp(0)) else { return Children(reason: .emptyTimestamp) }
            guard let id = id(of: object, number: times[object] ?? 1, in: document, context) else {
                return Children(reason: .noID)
            }
            documents.append(
                BSONDocument(
                    [("_id", id)] + (try object.elements()).filter { $0.name != "_id" }.map { ($0.name, $0.value) }))
            links.append(id)
        }
        guard case .array = value else { return Children(documents: documents, value: links.first ?? .null) }
        return Children(documents: documents, value: .array(of: links))
    }

    /// Returns the `_id` of the document that is created from an embedded object.
    ///
    /// The step names a field of the object that holds the `_id`, or lets the program generate the `_id`. The result is
    /// `nil` if the named field holds no valid `_id`.
    ///
    /// A generated `_id` depends on the object's content, and on the `_id` of the document that contains the object. If
    /// a user changes the object, a later run therefore generates another `_id`.
    private func id(
        of object: BSONDocument, number: Int, in document: BSONDocument, _ context: ClientContext
    ) -> BSONValue? {
        switch step.id {
        case .field(let name):
            // `.none` is explicit, because `nil` can also be the literal of the BSON null.
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

    /// Returns the values of the field `name` that occur in several objects with different contents.
    ///
    /// The field becomes the `_id`, so only one of these objects could become a document.
    ///
    /// The server finds these values in one aggregation over the whole collection.
    private func contested(by name: String, in context: ClientContext) throws -> Set<IDKey> {
        let object = Expression(.string("$o"))
        let elements = step.field.containers.flatMap { container -> [BSONDocument] in
            [
                ["$match": .object(container.isContainer.filter)],
                ["$project": ["_id": 0, "o": Expression.elements(of: .field(container)).bson]], ["$unwind": "$o"],
                ["$replaceWith": "$o"],
            ]
        }
        let pipeline: [BSONDocument] =
            elements + [
                ["$match": .object(step.field.isReachable.filter)],
                ["$project": ["_id": 0, "o": Expression.field(step.field).bson]], ["$unwind": "$o"],
                ["$match": .object(object.hasType("object").filter)],
                ["$group": ["_id": ["id": .string("$o.\(name)"), "o": "$o"]]],
                ["$group": ["_id": "$_id.id", "n": ["$sum": 1]]], ["$match": ["n": ["$gt": 1]]],
            ]
        var cursor = context.collection.aggregate(
            pipeline,
            options: ["allowDiskUse": true, "comment": "shipshape extract", "readConcern": ["level": "majority"]])
        var contested: Set<IDKey> = []
        while let document = try cursor.nextDocument() {
            guard contested.count < Self.maximumRemembered else {
                throw RunError(
                    .schemaMismatch,
                    "more than \(Self.maximumRemembered.grouped) values of \"\(name)\" are shared by objects of "
                        + "\"\(step.field)\" that differ: have each _id generated")
            }
            if let id = document["_id"] { contested.insert(IDKey(id)) }
        }
        return contested
    }
}
