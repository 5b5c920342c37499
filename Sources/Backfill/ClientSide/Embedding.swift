import BSON
import JobState
import Jobs
import Mongo

/// What ``EmbedStep`` makes of links.
struct Embedding: ClientTransform {
    let step: EmbedStep
    /// Linked documents that several link to, where those are left alone.
    private var shared: Set<IDKey> = []
    private(set) var obstacles: [ClientObstacle] = []

    init(step: EmbedStep) { self.step = step }

    func prepared(in context: ClientContext) throws -> any ClientTransform {
        let lookup = Lookup(namespace: step.from)
        guard try lookup.exists(in: context) else { throw BackfillError.lookupMissing(step.from) }
        var prepared = self
        let links = try Backlinks.read(field: step.field, to: step.from, in: context)
        prepared.obstacles = []
        if step.orphans == .refuse, links.orphans > 0 {
            prepared.obstacles.append(
                ClientObstacle(
                    text: CompiledStep.Reason.noBacklink.rawValue, count: links.orphans, namespace: step.from,
                    samples: links.orphanSamples,
                    remedy: "link them or remove them, or accept with \"orphans: leave\" that they stay there alone"))
        }
        if step.shared == .refuse, links.shared.count > 0 {
            prepared.obstacles.append(
                ClientObstacle(
                    text: CompiledStep.Reason.multipleBacklinks.rawValue, count: links.shared.count,
                    namespace: step.from, samples: Array(links.shared.prefix(Survey.samples)),
                    remedy: "give each parent a document of its own, or accept with \"shared: copy\" that each gets a "
                        + "copy, or with \"shared: leave\" that their parents are left alone"))
        }
        if step.shared == .leave { prepared.shared = Set(links.shared.map(IDKey.init)) }
        return prepared
    }

    func outcomes(of documents: [BSONDocument], in context: ClientContext) throws -> [ClientOutcome] {
        let values = try documents.map { try $0.value(at: step.field) }
        let links = values.flatMap { $0.map(Self.links) ?? [] }
        let linked = try Lookup(namespace: step.from).documents(links, in: context)
        return try zip(documents, values).map { document, value in
            guard let value else { return .nothing }
            let links = Self.links(of: value)
            if links.contains(where: { shared.contains(IDKey($0)) }) { return .leave(.multipleBacklinks) }
            guard links.allSatisfy({ linked[IDKey($0)] != nil }) else { return .leave(.brokenLink) }
            let embed = { (link: BSONValue) -> BSONValue in
                guard link.isLink, let document = linked[IDKey(link)]?.first else { return link }
                return .object(fields(of: document))
            }
            let embedded: BSONValue =
                if case .array(let list) = value { .array(of: list.values.map(embed)) } else { embed(value) }
            guard let into = step.into, let present = try document.value(at: into) else { return .change(embedded) }
            return present.hasSameBytes(as: embedded) ? .nothing : .leave(.targetDiffers)
        }
    }

    private static func links(of value: BSONValue) -> [BSONValue] {
        guard case .array(let list) = value else { return [value].filter(\.isLink) }
        return list.values.filter(\.isLink)
    }

    /// The fields that are taken.
    ///
    /// An embedded object has no primary key, so `_id` goes unless it is asked for.
    private func fields(of document: BSONDocument) -> BSONDocument {
        var builder = BSONBuilder()
        for (name, value) in (try? document.elements()) ?? [] {
            let isKept = step.keep.map { $0.contains(name) } ?? (name != "_id" && !step.omit.contains(name))
            if isKept { builder.append(name, value) }
        }
        return builder.finish()
    }
}

/// How often the documents of a collection are linked to.
struct Backlinks {
    /// The most documents with several backlinks that are kept in mind.
    static let most = 100_000

    /// Documents that nothing links to, and a few of their `_id`s.
    var orphans = 0
    var orphanSamples: [BSONValue] = []
    /// The `_id`s of those that are linked to more than once.
    var shared: [BSONValue] = []

    /// Counts on the server, in one pass over both collections.
    static func read(field: FieldPath, to namespace: Namespace, in context: ClientContext) throws -> Backlinks {
        guard namespace.database == context.collection.namespace.database else {
            throw BackfillError(
                .schemaMismatch,
                "\(namespace) has to be of the database that the job's collection is of: the server "
                    + "counts the links between the two")
        }
        let link = Expression(.string("$l"))
        let union: BSONDocument = [
            "coll": .string(namespace.collection), "pipeline": [["$project": ["c": ["$literal": 1]]]],
        ]
        let pipeline: [BSONDocument] = [
            ["$match": .object(field.isReachable.filter)],
            ["$project": ["_id": 0, "l": Expression.field(field).bson]], ["$unwind": "$l"],
            ["$match": .object(link.isLink.filter)], ["$group": ["_id": "$l", "n": ["$sum": 1]]],
            ["$unionWith": .object(union)],
            ["$group": ["_id": "$_id", "n": ["$sum": "$n"], "c": ["$max": "$c"]]],
            ["$match": ["c": 1, "n": ["$ne": 1]]],
            [
                "$group": [
                    "_id": ["$cond": [["$eq": ["$n", 0]], ["$literal": [:]], ["id": "$_id"]]], "count": ["$sum": 1],
                    "low": ["$min": "$_id"], "high": ["$max": "$_id"],
                ]
            ],
        ]
        var cursor = context.collection.aggregate(
            pipeline,
            options: ["allowDiskUse": true, "comment": "shipshape backlinks", "readConcern": ["level": "majority"]])
        var links = Backlinks()
        while let document = try cursor.nextDocument() {
            if let id = document["_id"]?.document?["id"] {
                guard links.shared.count < most else {
                    throw BackfillError(
                        .schemaMismatch,
                        "\(CompiledStep.Reason.multipleBacklinks.rawValue) There are more than \(most) in \(namespace)")
                }
                links.shared.append(id)
            } else {
                links.orphans = document["count"]?.integer ?? 0
                let samples = [document["low"], document["high"]].compactMap(\.self)
                links.orphanSamples = links.orphans == 1 ? Array(samples.prefix(1)) : samples
            }
        }
        return links
    }
}
