import BSON
import Checking
import Jobs
import Partners
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
        func decide(_ reason: String, _ suggestions: [StepLine]) -> String {
            part.say(.manual, reason, suggesting: suggestions)
            return reason
        }
        let isOldUUID = finding.violation.found.hasSuffix("subtype 3, 16 bytes")
        let removal = StepLine.plain("unset", field)
        let target = Namespace(
            database: stage.namespace.database, collection: "\(stage.namespace.collection)_\(field)")
        let extract = StepLine(
            "extract", ["field": .text(field), "to": .text("\(target)"), "generate": .text("objectId")])
        switch rule.conditions.first {
        case .dates(let range):
            let (low, high) = (Self.date(range.lowerBound), Self.date(range.upperBound))
            let isDate = "{$eq: [{$type: \(value)}, date]}"
            return add(
                expression(field, "{$max: [{$min: [\(value), \(high)]}, \(low)]}", when: isDate),
                review: "whether the nearest date that clients can hold is right")
        case .nonFinite where finding.foundType == .double:
            return add(finite(field, isOptional: true), review: "whether null may replace NaN and the infinities")
        case .nonFinite,
            .types(_, at: .anywhere) where Self.emptyTypes.contains(finding.violation.found):
            return add(
                expression(field, "null", when: "{$eq: [{$type: \(value)}, \(finding.violation.found)]}"),
                review: "whether null may replace these values; clients get null already")
        case .names,
            .lostNames where !finding.violation.found.hasSuffix(" again"):
            let name = String(field.drop { $0 == "_" }.reversed().drop { $0 == "_" }.reversed())
            guard !name.isEmpty else { break }
            return add(
                StepLine("rename", ["from": .text(field), "to": .text(name)]), review: "whether clients read \(name)")
        case .binaryLength where !field.contains(FieldPath.each):
            return add(removal, review: "the value is removed; undo restores it from the journal")
        case .column, .property: return convert(finding, field, value, add, decide)
        case .depth where finding.foundType == .object:
            return add(
                extract, review: "the object moves to \(target), which must not be synced; the field keeps its key")
        case .size, .rowUnits, .rowBytes:
            guard finding.foundType != .object else {
                return add(
                    extract, review: "the object moves to \(target): sync that too if each object is small enough")
            }
            guard finding.foundType == .string else {
                let suggestions = finding.foundType == .array ? [extract, removal] : [removal]
                return decide("only you can decide which part of this field stays", suggestions)
            }
            let isLong =
                "{$cond: [{$eq: [{$type: \(value)}, string]}, {$gt: [{$strLenBytes: \(value)}, 4000000]}, false]}"
            return add(
                expression(field, "{$substrCP: [\(value), 0, 1000000]}", when: isLong),
                review: "texts of more than 4 MB are cut off after 1000000 characters; undo restores them")
        case .binary where isOldUUID, .legacyUUID where isOldUUID:
            return decide(
                "a UUID of subtype 3 is read with \"legacy\": java, csharp or python, as the driver that wrote it",
                [.convert(field, from: nil, to: .uuid).withLegacy])
        case .id, .idSize, .idText, .nullID, .falsyID, .unreadableID:
            return
                "an _id cannot be changed in place: \(rule.remedy). If you insert a document again, change the "
                + "references to it with map, and delete the old one last"
                + (finding.textID == nil ? "" : "; or serve clients from a partner collection with texts as _ids")
        default: break
        }
        return decide("only you can decide how to change these: \(rule.remedy)", [removal])
    }

    /// Returns a draft of the job that keeps a partner collection with texts as `_id`s, for `_id`s that an engine does
    /// not take; `nil` if no finding needs it, or if some of these `_id`s have no text that leads back to them.
    static func partner(for findings: [ViolationGroup], of source: Namespace) -> PartnerDraft? {
        let ids = findings.filter { $0.violation.path == SchemaPath([.field("_id")]) }
        guard let type = ids.first?.textID, ids.allSatisfy({ $0.textID == type }) else { return nil }
        return PartnerDraft(of: source, id: IDConversion(type, textsOn: .target))
    }

    private static let emptyTypes = ["undefined", "minKey", "maxKey"]

    private static func date(_ milliseconds: Int64) -> String { "{$date: {$numberLong: \"\(milliseconds)\"}}" }

    private func convert(
        _ finding: ViolationGroup, _ field: String, _ value: String, _ add: (StepLine, String) -> String?,
        _ decide: (String, [StepLine]) -> String
    ) -> String? {
        let targets: [(String, SchemaType)] = [
            ("integer", .long), ("real", .double), ("text", .string), ("Long", .long), ("Int", .int),
            ("Double", .double), ("Float", .double), ("String", .string), ("Bool", .bool), ("Date", .date),
        ]
        let words = finding.violation.expected.split(separator: " ").map(String.init)
        if words.contains(where: { $0.hasSuffix("Vector") || $0 == "ToMany" }), finding.foundType != .array {
            return add(.plain("wrap", field), "each value becomes a list of one value")
        }
        guard let type = targets.first(where: { words.contains($0.0) })?.1, let found = finding.foundType,
            let old = SchemaType(rawValue: "\(found)")
        else {
            return decide("only you can decide how to change these: convert them, or change the clients' type", [])
        }
        if old == .timestamp {
            let seconds = "{$toLong: {$divide: [{$toLong: {$toDate: \(value)}}, 1000]}}"
            let step = expression(
                field, type == .string ? "{$toString: {$toDate: \(value)}}" : seconds,
                when: "{$eq: [{$type: \(value)}, timestamp]}")
            return add(step, "the timestamp becomes \(type == .string ? "the text of its time" : "seconds since 1970")")
        }
        guard Conversion.leads(from: old, to: type) else {
            return decide("no step makes a \(type.rawValue) of these: remove them", [.plain("unset", field)])
        }
        let step = StepLine.convert(field, from: [old], to: type)
        return add(step, "values that have no \(type.rawValue) stay, and are reported")
    }
}

extension ViolationGroup {
    /// The type of the `_id`s of the finding, if a partner collection can hold a text that the engine takes for each.
    fileprivate var textID: IDConversion.Kind? {
        switch EngineRule.named(violation.rule)?.conditions.first {
        case .id, .falsyID: foundType == .objectId ? .objectId : foundType == .int || foundType == .long ? .int : nil
        default: nil
        }
    }
}
