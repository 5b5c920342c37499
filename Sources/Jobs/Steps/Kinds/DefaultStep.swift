package import BSON
package import Checking
package import LocatedYAML
package import ServerSchema
import Yams

/// Fills a missing field, and on request also a null one, with a constant or with the time of the job's start.
package struct DefaultStep: StepKind {
    package static let key = "default"

    package enum Filling: Hashable, Sendable {
        /// Every document gets the same value.
        case constant(BSONValue)
        /// The time of the job's start; before that time is known, the server's current time (`$$NOW`).
        case now
        /// The time in the document's own `_id`, if that is an ObjectId with a time until 2038.
        case idTime
    }

    let field: FieldPath
    package let value: Filling
    /// Whether the step fills a null field as well as a missing one.
    let nullsToo: Bool

    package var target: FieldPath { field }
    package var filling: Filling? { value }
    package var quick: QuickCondition { .missing(field, orNull: nullsToo) }

    package var description: String {
        let what =
            switch value {
            case .constant(let value): "a value of type \(value.type)"
            case .now: "the time of the job's start"
            case .idTime: "the time of its _id"
            }
        return "default \(field): \(what) where missing\(nullsToo ? " or null" : "")"
    }

    package var loss: String? {
        nullsToo
            ? "whether \"\(field)\" was null or missing" : nil
    }

    package func resolved(at now: Int64) -> Self {
        value == .now
            ? DefaultStep(field: field, value: .constant(.date(milliseconds: now)), nullsToo: nullsToo) : self
    }

    package func fitted(to type: SchemaType, at location: SourceLocation) throws(JobError) -> Self {
        let found: String
        switch value {
        case .constant(let value):
            if let fitted = StepFitting.fit(value, to: type) {
                return DefaultStep(field: field, value: .constant(fitted), nullsToo: nullsToo)
            }
            found = "\(value.type)"
        case .now, .idTime:
            if type == .date || type == .mixed { return self }
            found = "date"
        }
        throw JobError(
            "the default of \"\(field)\" has type \(found), and the next schema declares \(type.rawValue)", at: location
        )
    }

    package func body() -> StepBody {
        let filling: Expression =
            switch value {
            case .constant(let value): .constant(value)
            case .now: .variable("NOW")
            case .idTime: Expression(["$toDate": id.bson])
            }
        let isEmpty = nullsToo ? Expression.field(field).isMissingOrNull : Expression.field(field).isMissing
        guard value == .idTime else { return StepBody(wanted: isEmpty, value: filling) }
        // The server reads the seconds as a signed number, so a time after 2038 would be one before 1970.
        let hasTime = Expression.choose(
            if: id.hasType("objectId"), then: .call("$gte", filling, .constant(.date(milliseconds: 0))),
            else: .constant(false))
        return StepBody(wanted: isEmpty && hasTime, value: filling, conflicts: [(.noTime, isEmpty && !hasTime)])
    }

    /// The document's `_id`, also inside an element.
    private var id: Expression { .variable("ROOT._id") }

    package func leavesSyncing(
        under schema: SchemaNode, declaring target: SchemaNode, assuming assumptions: CheckOptions
    ) -> Bool {
        // The step writes only the constant or the time to the field, so only this value has to fit the schema.
        switch value {
        case .constant(let value): schema.fits(value, at: field, assuming: assumptions)
        case .now, .idTime: schema.fits(.date(milliseconds: 0), at: field, assuming: assumptions)
        }
    }
}

extension DefaultStep {
    /// The keys that a `default` step may have, in all its variants.
    static let members = ["field", "value", "generate", "when"]

    package static func read(_ node: YAMLNode) throws(JobError) -> [any StepKind] {
        node.hasMember("generate") && !node.hasMember("generate", idTime)
            ? [try GenerateStep(node)] : [try DefaultStep(node)]
    }

    /// The word of `generate` for ``Filling/idTime``.
    static let idTime = "idTime"

    package init(_ node: YAMLNode) throws(JobError) {
        let members = try node.members(of: "\"default\"", allowed: Self.members)
        let field = try members.required("field").fieldPath("field")
        if members["generate"] != nil, let node = members["value"] {
            throw node.error("a default has either a value or \"generate\"")
        }
        let value = members["generate"] == nil ? try Self.filling(try members.required("value")) : .idTime
        let nullsToo = try members.fillsNulls()
        guard nullsToo || field.components.last != FieldPath.each else {
            throw node.error("an element of a list is never missing: write \"when: missingOrNull\" to fill its nulls")
        }
        guard !nullsToo || (value != .constant(.null) && value != .constant(.undefined)) else {
            throw node.error("a default of null would never fill the field: give another value, or \"when: missing\"")
        }
        self.init(field: field, value: value, nullsToo: nullsToo)
    }

    /// Reads the value to fill in: `$now` without quotation marks means the time, and everything else is a constant.
    ///
    /// A text that looks like the path of a field has to be below `$literal`, because it was probably meant as a path.
    private static func filling(_ node: YAMLNode) throws(JobError) -> Filling {
        if let scalar = node.node.scalar, scalar.string == "$now", scalar.style == .plain || scalar.style == .any {
            return .now
        }
        if let mapping = node.node.mapping, mapping.count == 1, let (key, value) = mapping.first, key == "$literal" {
            return .constant(try JobLiteral.value(YAMLNode(node: value, file: node.file)))
        }
        let value = try JobLiteral.value(node)
        if case .string(let text) = value, looksLikePath(text) {
            let other =
                text == "$now"
                ? "without quotation marks, it is the time of the job's start"
                : "a step \"expression\" or \"copy\" takes values of fields"
            throw node.error(
                "\(text.quotedAsJSON) would be written as this text: \(other); {$literal: …} is the text itself")
        }
        return .constant(value)
    }

    /// Whether a text is written like the path of a field or a variable in an expression, such as `$price`.
    package static func looksLikePath(_ text: String) -> Bool {
        let name = text.drop { $0 == "$" }
        return name.count < text.count && name.first.map { $0.isLetter || $0 == "_" } == true
    }
}

extension YAMLMembers {
    private enum When: String, CaseIterable { case missing, missingOrNull }

    /// Reads from `when` whether the step fills a null field as well as a missing one; `false` if there is no `when`.
    func fillsNulls() throws(JobError) -> Bool {
        guard let node = self["when"] else { return false }
        let when: When = try node.choice("when")
        return when == .missingOrNull
    }
}
