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
        func add(_ step: StepLine, _ review: String) -> String? {
            part.add(step, rule.outcome.rawValue, review: review)
            return nil
        }
        func replace(_ type: String, by new: String, _ review: String) -> String? {
            add(expression(field, new, when: "{$eq: [{$type: \(value)}, \(type)]}"), review)
        }
        func decide(_ reason: String, _ suggestions: [StepLine] = []) -> String {
            part.say(.manual, reason, suggesting: suggestions)
            return reason
        }
        let (found, type) = (finding.violation.found, finding.foundType)
        let removal = StepLine.plain("unset", field)
        let target = "\(stage.namespace)_\(field)"
        let extract = StepLine("extract", ["field": .text(field), "to": .text(target), "generate": .text("objectId")])
        switch rule.conditions.first {
        case .value(.dateOutside(let low, let high), _, _):
            func date(_ milliseconds: Int64) -> String { "{$date: {$numberLong: \"\(milliseconds)\"}}" }
            return replace(
                "date", by: "{$max: [{$min: [\(value), \(date(high))]}, \(date(low))]}",
                "whether the nearest date that clients can hold is right")
        case .value(.nonFinite, _, _) where type == .double:
            return add(finite(field, isOptional: true), "whether null may replace NaN and the infinities")
        case .value(.nonFinite, _, _),
            .value(.always, _, at: .anywhere) where ["undefined", "minKey", "maxKey"].contains(found):
            return replace(found, by: "null", "whether null may replace these values; clients get null already")
        case .names,
            .has(.lostNames) where !found.hasSuffix(" again"):
            let name = String(field.drop { $0 == "_" }.reversed().drop { $0 == "_" }.reversed())
            guard !name.isEmpty else { break }
            return add(StepLine("rename", ["from": .text(field), "to": .text(name)]), "whether clients read \(name)")
        case .value(.wrongLength, _, _) where !field.contains(FieldPath.each):
            return add(removal, "the value is removed; undo restores it from the journal")
        case .over(.depth, _) where type == .object:
            return add(extract, "the object moves to \(target), which must not be synced; the field keeps its key")
        case .over(.size, _), .over(.rowUnits, _), .over(.rowBytes, _):
            if type == .object {
                return add(extract, "the object moves to \(target): sync that too if each object is small enough")
            }
            guard type == .string else {
                let suggestions = type == .array ? [extract, removal] : [removal]
                return decide("only you can decide which part of this field stays", suggestions)
            }
            let isLong =
                "{$cond: [{$eq: [{$type: \(value)}, string]}, {$gt: [{$strLenBytes: \(value)}, 4000000]}, false]}"
            return add(
                expression(field, "{$substrCP: [\(value), 0, 1000000]}", when: isLong),
                "texts of more than 4 MB are cut off after 1000000 characters; undo restores them")
        case .value(.notUUID, _, _) where found.hasSuffix("subtype 3, 16 bytes"), .value(.legacyUUID, _, _):
            return decide(
                "a UUID of subtype 3 is read with \"legacy\": java, csharp or python, as the driver that wrote it",
                [.convert(field, from: nil, to: .uuid).withLegacy])
        case .id, .over(.idSize, _), .has(.idText), .has(.nullID), .has(.falsyID), .has(.unreadableID):
            return
                "an _id cannot be changed in place: \(rule.remedy). If you insert a document again, change the "
                + "references to it with map, and delete the old one last"
                + (finding.textID == nil ? "" : "; or serve clients from a partner collection with texts as _ids")
        case .column, .property:
            let words = finding.violation.expected.split(separator: " ").map(String.init)
            if words.contains(where: { $0.hasSuffix("Vector") || $0 == "ToMany" }), type != .array {
                return add(.plain("wrap", field), "each value becomes a list of one value")
            }
            guard let new = words.compactMap({ Self.clientTypes[$0] }).first, let type,
                let old = SchemaType(rawValue: "\(type)")
            else {
                return decide("only you can decide how to change these: convert them, or change the clients' type")
            }
            if old == .timestamp {
                let seconds = "{$toLong: {$divide: [{$toLong: {$toDate: \(value)}}, 1000]}}"
                return new == .string
                    ? replace("timestamp", by: "{$toString: {$toDate: \(value)}}", "it becomes the text of its time")
                    : replace("timestamp", by: seconds, "the timestamp becomes seconds since 1970")
            }
            guard Conversion.leads(from: old, to: new) else {
                return decide("no step makes a \(new.rawValue) of these: remove them", [removal])
            }
            return add(
                .convert(field, from: [old], to: new), "values that have no \(new.rawValue) stay, and are reported")
        default: break
        }
        return decide("only you can decide how to change these: \(rule.remedy)", [removal])
    }

    /// The types of fields whose values fit the types of columns and of ObjectBox properties.
    private static let clientTypes: [String: SchemaType] = [
        "integer": .long, "real": .double, "text": .string, "Long": .long, "Int": .int, "Double": .double,
        "Float": .double, "String": .string, "Bool": .bool, "Date": .date,
    ]

    /// Returns a draft of the job that keeps a partner collection with texts as `_id`s, for `_id`s that an engine does
    /// not take; `nil` if no finding needs it, or if some of these `_id`s have no text that leads back to them.
    static func partner(for findings: [ViolationGroup], of source: Namespace) -> PartnerDraft? {
        let ids = findings.filter { $0.violation.path == SchemaPath([.field("_id")]) }
        guard let type = ids.first?.textID, ids.allSatisfy({ $0.textID == type }) else { return nil }
        return PartnerDraft(of: source, id: IDConversion(type, textsOn: .target))
    }
}

extension ViolationGroup {
    /// The type of the `_id`s of the finding, if a partner collection can hold a text that the engine takes for each.
    fileprivate var textID: IDConversion.Kind? {
        switch EngineRule.named(violation.rule)?.conditions.first {
        case .id, .has(.falsyID):
            foundType == .objectId ? .objectId : foundType == .int || foundType == .long ? .int : nil
        default: nil
        }
    }
}
