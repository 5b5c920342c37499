import BSON
import Checking
import Jobs
import ServerSchema

/// The steps for the values at which a sync engine halts, or of which it loses something.
extension FindingPlanner {
    /// Adds the steps that repair a finding of an engine, or suggestions that the user has to decide on.
    /// - Returns: The reason why no step was added; `nil` if a step was added.
    func plan(_ rule: EngineRule, of finding: ViolationGroup, _ field: String, in part: inout FieldGroup) -> String? {
        let value = YAMLText.word(Self.reference(to: field))
        func add(_ step: StepLine, review: String) -> String? {
            part.add(step, rule.outcome.rawValue)
            part.entries[0].review = review
            return nil
        }
        func decide(_ reason: String, _ suggestions: StepLine...) -> String {
            part.say(.manual, reason, suggesting: suggestions)
            return reason
        }
        let removal = StepLine.plain("unset", field)
        switch rule.repair {
        case .limit(let range):
            let (low, high) = (Self.date(range.lowerBound), Self.date(range.upperBound))
            let isDate = "{$eq: [{$type: \(value)}, date]}"
            return add(
                expression(field, "{$max: [{$min: [\(value), \(high)]}, \(low)]}", when: isDate),
                review: "whether the nearest date that clients can hold is right")
        case .nullify where finding.foundType == .double:
            return add(finite(field, isOptional: true), review: "whether null may replace NaN and the infinities")
        case .nullify where Self.emptyTypes.contains(finding.violation.found):
            return add(
                expression(field, "null", when: "{$eq: [{$type: \(value)}, \(finding.violation.found)]}"),
                review: "whether null may replace these values; clients get null already")
        case .rename where !finding.violation.found.hasSuffix(" again"):
            let name = String(field.drop { $0 == "_" }.reversed().drop { $0 == "_" }.reversed())
            guard !name.isEmpty else { break }
            return add(
                StepLine("rename", ["from": .text(field), "to": .text(name)]), review: "whether clients read \(name)")
        case .remove where !field.contains(FieldPath.each):
            return add(removal, review: "the value is removed; undo restores it from the journal")
        case .convert: return convert(finding, field, value, add, decide)
        case .move where finding.foundType == .object:
            let target = Namespace(
                database: stage.namespace.database, collection: "\(stage.namespace.collection)_\(field)")
            return add(
                StepLine("extract", ["field": .text(field), "to": .text("\(target)"), "generate": .text("objectId")]),
                review: "the object moves to \(target), which must not be synced; the field keeps its key")
        case .shorten: return shorten(finding, field, value, add, decide)
        case .makeUUID where finding.violation.found.hasSuffix("subtype 3, 16 bytes"):
            return decide(
                "a UUID of subtype 3 is read with \"legacy\": java, csharp or python, as the driver that wrote it",
                .convert(field, from: nil, to: .uuid).withLegacy)
        case .replaceID:
            part.say(
                .manual,
                "an _id cannot be changed in place: \(rule.remedy), change the references to it with remap-link, and "
                    + "delete the old document last; or serve clients from a partner collection, which holds each "
                    + "document under a text as _id (shipshape partner)", isForPartner: true)
            return part.entries[0].remarks[0]
        default: break
        }
        return decide("only you can decide how to change these: \(rule.remedy)", removal)
    }

    private static let emptyTypes = ["undefined", "minKey", "maxKey"]

    private static func date(_ milliseconds: Int64) -> String { "{$date: {$numberLong: \"\(milliseconds)\"}}" }

    /// Adds the step that converts values to the type of a column or of a property.
    private func convert(
        _ finding: ViolationGroup, _ field: String, _ value: String, _ add: (StepLine, String) -> String?,
        _ decide: (String, StepLine...) -> String
    ) -> String? {
        let targets: [(String, SchemaType)] = [
            ("integer", .long), ("real", .double), ("text", .string), ("Long", .long), ("Int", .int),
            ("Double", .double), ("Float", .double), ("String", .string), ("Bool", .bool), ("Date", .date),
        ]
        let words = finding.violation.expected.split(separator: " ").map(String.init)
        guard let type = targets.first(where: { words.contains($0.0) })?.1, let found = finding.foundType,
            let old = SchemaType(rawValue: "\(found)")
        else {
            return decide("only you can decide how to change these: convert them, or change the clients' type")
        }
        if old == .timestamp {
            let seconds = "{$toLong: {$divide: [{$toLong: {$toDate: \(value)}}, 1000]}}"
            let step = expression(
                field, type == .string ? "{$toString: {$toDate: \(value)}}" : seconds,
                when: "{$eq: [{$type: \(value)}, timestamp]}")
            return add(step, "the timestamp becomes \(type == .string ? "the text of its time" : "seconds since 1970")")
        }
        guard Conversion.leads(from: old, to: type) else {
            return decide("no step makes a \(type.rawValue) of these: remove them", .plain("unset", field))
        }
        let step = StepLine.convert(field, from: [old], to: type)
        return add(step, "values that have no \(type.rawValue) stay, and are reported")
    }

    /// Adds the step that makes the largest field of a document smaller.
    private func shorten(
        _ finding: ViolationGroup, _ field: String, _ value: String, _ add: (StepLine, String) -> String?,
        _ decide: (String, StepLine...) -> String
    ) -> String? {
        let most = 1_000_000
        guard finding.foundType == .string else {
            return decide("only you can decide which part of this field stays", .plain("unset", field))
        }
        let isLong = "{$cond: [{$eq: [{$type: \(value)}, string]}, {$gt: [{$strLenBytes: \(value)}, 4000000]}, false]}"
        return add(
            expression(field, "{$substrCP: [\(value), 0, \(most)]}", when: isLong),
            "texts of more than 4 MB are cut off after \(most) characters; undo restores them from the journal")
    }
}
