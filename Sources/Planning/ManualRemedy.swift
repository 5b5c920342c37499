import BSON
import Jobs
import SchemaChange
import ServerSchema

/// The recommendation for a change without a planned step; it may suggest steps that the user can activate.
struct ManualRemedy {
    var role = PlanEntry.Role.manual
    let text: String
    var suggestions: [StepLine] = []
    /// Whether the text recommends a partner collection, perhaps as one of several ways.
    var isPartner = false

    private init(
        _ text: String, role: PlanEntry.Role = .manual, suggesting suggestions: [StepLine] = [], isPartner: Bool = false
    ) {
        (self.text, self.role, self.suggestions, self.isPartner) = (text, role, suggestions, isPartner)
    }

    /// Whether a change forbids every step at its path.
    static func bars(_ change: SchemaChange, in planner: FieldPlanner) -> Bool {
        change.code == .idTypeChanged || change.code == .embeddingChanged || isOfPartition(change, planner)
    }

    private static func isOfPartition(_ change: SchemaChange, _ planner: FieldPlanner) -> Bool {
        guard change.path.steps.count == 1, case .field(let name)? = change.oldPath.steps.first else { return false }
        return change.old != nil && planner.partitionKey == name
    }

    /// Creates the recommendation for a change; `nil` for a change that ``FieldPlanner`` plans itself.
    init?(of change: SchemaChange, in planner: FieldPlanner) {
        if Self.isOfPartition(change, planner) {
            self.init(
                "this is the partition key: clients see a document whose value changes as deleted and inserted, and "
                    + "lose their unsent changes to it; \(Self.termination)")
            return
        }
        switch change.code {
        case .idTypeChanged where planner.dialect == .jsonSchema && change.kind.verdict != .breaking:
            self.init("the documents need no change", role: .nothing)
        case .idTypeChanged where !planner.hasPartners:
            self.init(
                "an _id cannot be changed in place: while no client runs, copy each document under its new _id with a "
                    + "script of your own, and change the keys of all relations to it")
        case .typeRenamed where !planner.hasPartners:
            self.init("the documents need no change: only programs use the name", role: .nothing)
        case .collectionMoved where !planner.hasPartners:
            self.init(
                "a job writes to one collection only: rename the collection in the moment of the deploy (mongosh: "
                    + "db.getSiblingDB(…).OLD.renameCollection(\"NEW\"))")
        case .idTypeChanged:
            self.init(
                "an _id cannot be changed in place: make a partner collection, which holds each document under its new "
                    + "_id, and remap the links to it; or, \(Self.termination)", isPartner: true)
        case .embeddingChanged: self = Self.embedding(change)
        case .typeRenamed where change.path.isRoot:
            self.init(
                "the documents need no change, because no document holds the title; for clients it is another type: "
                    + "map the name inside the client, make a partner collection, or, \(Self.termination)",
                isPartner: planner.dialect == .appServices)
        case .collectionMoved:
            self.init(
                "a job writes to one collection only: copy the documents with a partner collection, or, "
                    + "\(Self.termination) (mongosh: "
                    + "db.getSiblingDB(…).COLLECTION.aggregate([{ $merge: { into: … } }]))", isPartner: true)
        case .typeRemoved where planner.dialect == .appServices:
            self.init(
                "the documents need no change, but sync has to be terminated: keep the type on the server instead, or, "
                    + Self.termination)
        case .typeRemoved, .typeAdded, .typeRenamed: self.init("the documents need no change", role: .nothing)
        case .propertyRemoved: self = Self.removal(change, in: planner)
        case .linkAdded, .linkRetargeted:
            self = Self.linking(change)
        case .propertyTypeChanged where change.new?.node?.isPrismaEnum == true,
            .elementTypeChanged where change.new?.node?.isPrismaEnum == true, .constraintTightened:
            self = Self.choosing(change)
        case .additionalPropertiesChanged:
            guard case .forbidden? = change.new?.node?.additionalProperties else {
                self.init("the documents need no change", role: .nothing)
                return
            }
            self.init(
                "documents with undeclared fields no longer fit: shipshape check lists them, and an \"unset\" step "
                    + "removes a field")
        case .uniqueAdded:
            self.init(
                "the documents need no change unless several have one value, or null: shipshape check lists them, and "
                    + "shipshape plan with the newer schema alone proposes what to do", role: .nothing)
        case .uniqueRemoved: self.init("the documents need no change", role: .nothing)
        case .partitionKeyChanged, .syncModeChanged, .dataSourceChanged:
            self.init("sync has to be set up again: \(Self.termination)")
        case .defaultAdded where change.new?.isRequired == true && change.old?.isRequired == true:
            self.init(
                "the documents need no change: clients show the default where the field is missing", role: .nothing)
        default: return nil
        }
    }

    /// The order of operations for a change that is made without a partner collection.
    ///
    /// Source: `semantics.md`, section 6, note 8, of the project's reference.
    static let termination =
        "in this order: stop old clients or let them upload, terminate sync, wait about ten minutes, remove the old "
        + "schema, change the documents, save the new schema, enable sync again, check, and let the clients reset"

    private static func embedding(_ change: SchemaChange) -> ManualRemedy {
        let field = change.path.jobPath ?? "\(change.path)"
        if let link = change.old?.link {
            return ManualRemedy(
                "links become embedded objects: each linked document must have exactly one parent; while sync is "
                    + "terminated, this step embeds them, and refuses if a document has none or several; plan with "
                    + "--embed \(change.oldNamespace.map { "\($0)." } ?? "")\(change.oldPath) to accept it",
                suggesting: [StepLine("embed", ["field": .text(field), "from": .text("\(link.target)")])])
        }
        let target = change.new?.link.map { "\($0.target)" } ?? "DATABASE.COLLECTION"
        let type = change.new?.node?.types.first.map(\.rawValue) ?? "objectId"
        let isGenerated = ["objectId", "uuid"].contains(type)
        return ManualRemedy(
            "embedded objects become links to separate documents; while sync is terminated, this step creates them",
            suggesting: [
                StepLine(
                    "extract",
                    [
                        "field": .text(field), "to": .text(target), "generate": isGenerated ? .text(type) : nil,
                        "idFrom": isGenerated ? nil : .text("NAME"),
                    ])
            ])
    }

    /// Returns the recommendation for values that the newer schema no longer allows.
    ///
    /// If both schemas list the allowed values, the suggested step lists those that go. A value that differs from an
    /// allowed one only in case and blanks is mapped to it already.
    private static func choosing(_ change: SchemaChange) -> ManualRemedy {
        let lists = [change.old, change.new].map { side in
            side?.node.map { $0.inner ?? $0 }?.constraints.allowedValues ?? []
        }
        let gone = lists[0].filter { !lists[1].contains($0) && $0 != .null }
        guard let field = change.path.jobPath, !gone.isEmpty, !lists[1].isEmpty, gone.count <= mostValues else {
            return ManualRemedy(
                "no step can choose values that fit: shipshape check lists the documents that do not fit")
        }
        let name = change.new?.node?.inner == nil || field.hasSuffix(FieldPath.each) ? field : field + FieldPath.each
        let values = gone.map(YAMLText.literal).joined(separator: ", ")
        return ManualRemedy(
            "the newer schema no longer allows \(values): this step writes another value, once you say which",
            suggesting: [.remap(name, gone, to: lists[1])])
    }

    private static let mostValues = 12

    /// Returns the recommendation for a field whose values have to be keys of the linked collection's documents.
    private static func linking(_ change: SchemaChange) -> ManualRemedy {
        let target = change.new?.link.map { "\($0.target)" } ?? "the linked collection"
        let demand =
            "the values have to be keys of \(target), or null: shipshape check --follow-links lists the others"
        guard change.code == .linkRetargeted, let field = change.path.jobPath else { return ManualRemedy(demand) }
        let before = change.old?.link.map { "\($0.target)" } ?? "another collection"
        return ManualRemedy(
            "\(demand). They are keys of \(before) now: this step replaces each with its new key, from a map or, with "
                + "lookup, from a collection",
            suggesting: [
                StepLine("map", ["field": .text(field), "values": .verbatim("[{from: OLD KEY, to: NEW KEY}]")])
            ])
    }

    private static func removal(_ change: SchemaChange, in planner: FieldPlanner) -> ManualRemedy {
        guard let field = change.path.jobPath else {
            return ManualRemedy("the documents need no change", role: .nothing)
        }
        let suggestions =
            change.path.steps.last.map { if case .field = $0 { true } else { false } } == true
            ? [StepLine.plain("unset", field)] : []
        if planner.forbidsFurtherFields(at: change.path) {
            return ManualRemedy(
                "the newer schema refuses undeclared fields, so this one has to be removed: uncomment the step once no "
                    + "client reads the field",
                suggesting: suggestions)
        }
        return ManualRemedy(
            "the documents may keep it, because the newer schema ignores it; to remove it, ONLY AFTER THE DEPLOY:",
            role: .nothing,
            suggesting: suggestions)
    }
}
