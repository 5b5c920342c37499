import BSON
import Checking
import JobState
import Jobs
import Mongo
import Scanning
import ServerSchema

/// Runs an ``EmbedStep`` on the client.
struct Embedding: ClientTransform {
    let step: EmbedStep
    /// The `_id`s of the linked documents to which more than one link leads.
    ///
    /// The step skips every document that links to one of them.
    ///
    /// Used only with `shared: leave`; otherwise empty.
    let shared: Set<IDKey>

    func collect(into preparation: inout ClientPreparation, in context: ClientContext) throws {
        let lookup = Lookup(namespace: step.from)
        guard try lookup.exists(in: context) else { throw RunError.lookupMissing(step.from) }
        preparation.obstacles = []
        guard step.orphans == .refuse || step.shared != .copy else { return }
        let census = try census(in: context)
        let linked = context.collection.sibling(step.from)
        let links = try census.count(in: linked)
        if step.orphans == .refuse, links.without.count > 0 {
            preparation.obstacles.append(
                ClientObstacle(
                    text: Backlinks.noneText, count: links.without.count, namespace: step.from,
                    samples: links.without.samples,
                    remedy: "link them, remove them, or keep them there without a link with \"orphans: leave\""))
        }
        if step.shared == .refuse, links.several.count > 0 {
            preparation.obstacles.append(
                ClientObstacle(
                    text: Backlinks.severalText, count: links.several.count, namespace: step.from,
                    samples: links.several.samples,
                    remedy: "give each parent its own document, give each parent a copy with \"shared: copy\", or skip "
                        + "the parents with \"shared: leave\""))
        }
        if step.shared == .leave, links.several.count > 0 {
            let shared = try census.several(in: linked, maximum: Self.maximumRemembered)
            guard shared.count <= Self.maximumRemembered else {
                throw RunError(
                    .schemaMismatch,
                    "\(Backlinks.severalText) There are more than \(Self.maximumRemembered.grouped) in \(step.from)")
            }
            preparation.excluded = Set(shared.map(IDKey.init))
        }
    }

    /// Returns a census of the links to the documents that the step embeds.
    ///
    /// The census counts the links in every field that the job's schema declares as a link to these documents, and in
    /// the field that the step embeds.
    private func census(in context: ClientContext) throws -> BacklinkCensus {
        let own = SchemaPath(step.field.components.map { $0 == FieldPath.each ? .elements : .field($0) })
        var places = context.links[step.from] ?? []
        // The step's field may hold a link or a list of links, even if the schema does not declare this.
        for path in [own, SchemaPath(own.steps + [.elements])]
        where !places.contains(where: { $0 == (context.collection.namespace, path) }) {
            places.append((context.collection.namespace, path))
        }
        for place in places where place.namespace.database != step.from.database {
            throw RunError(
                .schemaMismatch,
                "\(step.from) must be in the same database as \(place.namespace), which links to it at "
                    + "\"\(place.path)\", because the server counts the links between the two; to do without the "
                    + "count, set \"orphans: leave\" and \"shared: copy\"")
        }
        return BacklinkCensus(of: step.from, from: places)
    }

    func outcomes(of documents: [BSONDocument], in context: ClientContext) throws -> [ClientOutcome] {
        let values = try documents.map { try $0.value(at: step.field.local) }
        let links = values.flatMap { $0?.links ?? [] }
        let linked = try Lookup(namespace: step.from).documents(links, in: context)
        return try zip(documents, values).map { document, value in
            guard let value else { return .nothing }
            let links = value.links
            guard !links.isEmpty else { return .nothing }
            if links.contains(where: { shared.contains(IDKey($0)) }) { return .leave(.multipleBacklinks) }
            guard links.allSatisfy({ linked[IDKey($0)] != nil }) else { return .leave(.brokenLink) }
            let embed = { (link: BSONValue) -> BSONValue in
                guard link.isLink, let document = linked[IDKey(link)]?.first else { return link }
                return .object(fields(of: document))
            }
            let embedded: BSONValue =
                if case .array(let list) = value { .array(of: list.values.map(embed)) } else { embed(value) }
            guard let into = step.into, let present = try document.value(at: into.local) else {
                return try .change(document, [(step.target, embedded)])
            }
            return present.hasSameBytes(as: embedded) ? .nothing : .leave(.targetDiffers)
        }
    }

    /// Returns the fields of a linked document that the step copies into the embedded object.
    ///
    /// An embedded object has no primary key, so `_id` is left out unless the step's `keep` names it.
    private func fields(of document: BSONDocument) -> BSONDocument {
        var builder = BSONBuilder()
        for (name, value) in (try? document.elements()) ?? [] {
            let isKept = step.keep.map { $0.contains(name) } ?? (name != "_id" && !step.omit.contains(name))
            if isKept { builder.append(name, value) }
        }
        return builder.finish()
    }
}
