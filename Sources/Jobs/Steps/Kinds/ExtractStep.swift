package import BSON
package import LocatedYAML
package import ServerSchema

/// Moves embedded objects to documents of another collection, and replaces them by links to these documents: `extract`.
package struct ExtractStep: StepKind {
    package static let key = "extract"

    /// The field that holds the object or the list of objects.
    package let field: FieldPath
    /// The collection that the objects are moved to.
    package let to: Namespace
    /// The source of the `_id`s of the new documents.
    package let id: Identity

    /// The source of the `_id` of a new document.
    package enum Identity: Hashable {
        /// The `_id` is derived from the job, the document and the object, and has the type `objectId` or `uuid`.
        case generated(SchemaType)
        /// The `_id` is the value of this field of the object.
        case field(String)

        package var isGenerated: Bool { if case .generated = self { true } else { false } }
    }

    package var namespaces: [Namespace] { [to] }
    package func moved(from own: String, to database: String) -> Self {
        Self(field: field, to: to.moved(from: own, to: database), id: id)
    }
    package var changesInPlace: Bool { true }
    package var target: FieldPath { field }
    package var linksToCreated: FieldPath? { field }

    package var description: String { "extract \(field) to \(to)" }

    package var loss: String? {
        "that each object of \"\(field)\" belonged to one document only (others can link to its document in \(to)"
            + (id.isGenerated ? ")" : ", and equal objects with one key become one document)")
    }

    package func fitted(to declared: SchemaType, at location: SourceLocation) throws(JobError) -> Self {
        guard case .generated(let type) = id, declared != .array, declared != .mixed, declared != type else {
            return self
        }
        throw JobError(
            "\"\(field)\" becomes a link of type \(type.rawValue), but the next schema declares \(declared.rawValue)",
            at: location)
    }

    package func body() -> StepBody {
        let value = Expression.field(field)
        let wanted = value.hasType("object") || value.isList { $0.hasType("object") }
        guard case .generated(let type) = id else { return StepBody(wanted: wanted, value: .null) }
        // A link that the step itself made has the type of the new documents' `_id`s.
        let link = type == .uuid ? "binData" : type.rawValue
        let isOther = !value.hasType("missing", "null", "undefined", "object", "array", link)
        return StepBody(wanted: wanted, value: .null, conflicts: [(.wrongType, isOther)])
    }

    package var readsBeforehand: FieldPath? { id.isGenerated ? nil : field }
    package var clientComputation: ClientComputation? { .extract(self) }
    package var clientReasons: [CompiledStep.Reason] {
        [.otherDocument, .unfitChild, .emptyTimestamp] + (id == .field("_id") ? [] : [.ownID])
            + (id.isGenerated ? [] : [.noID])
    }
    package var creates: Namespace? { to }
}

extension ExtractStep {
    package init(_ node: YAMLNode) throws(JobError) {
        let members = try node.members(of: "\"extract\"", allowed: ["field", "to", "generate", "idFrom"])
        let id: Identity
        if let kind = members["generate"] {
            if let other = members["idFrom"] { throw other.error("give either \"generate\" or \"idFrom\"") }
            id = .generated(try kind.generatedType())
        } else {
            let name = try members.required("idFrom").text(of: "\"idFrom\"")
            guard !name.contains("."), !name.hasPrefix("$") else {
                throw try members.required("idFrom").error("\"idFrom\" must be a field of the object itself")
            }
            id = .field(name)
        }
        self.init(
            field: try members.required("field").fieldPath("field"),
            to: try members.required("to").namespace("to"), id: id)
    }
}
