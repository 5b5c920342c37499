import BSON
package import Checking
package import Mongo
package import ServerSchema

/// The distinct values of the findings of a check that a user can repair by choosing other values.
///
/// These are values that the schema does not list, and texts in place of values of another type.
package struct BadValues: Sendable {
    /// The values of one finding, the most frequent ones first, with how often they occur.
    struct Found: Sendable {
        var values: [(value: BSONValue, count: Int)] = []
        /// Whether there may be further values, because the reading ended early.
        var isPart = false
    }

    private static let mostShown = 12
    /// The limits of the reading for one finding.
    private static let (mostDocuments, mostValues, milliseconds) = (100_000, 1_000, 10_000)

    private var found: [Namespace: [ViolationGroup: Found]] = [:]
    /// Whether a plan names the values, and not only those that differ from an allowed one in case or blanks alone.
    private let areShown: Bool

    /// Knows no values.
    package init() { areShown = false }

    /// Reads the values from the documents; a finding whose documents are not read in time has none.
    package init(
        of report: CheckReport, _ schema: ServerSchema, areShown: Bool, on client: borrowing Client
    ) throws(MongoError) {
        self.areShown = areShown
        for collection in report.collections {
            guard let root = schema[collection.namespace]?.root else { continue }
            for finding in collection.groups where finding.violation.level >= .possible && finding.exception == nil {
                let node = root.node(at: finding.violation.path)
                guard let pipeline = Self.pipeline(finding, node?.constraints.allowedValues) else { continue }
                var values = Found(isPart: finding.count > Self.mostDocuments)
                do throws(MongoError) {
                    var cursor = client.collection(collection.reading.namespace ?? collection.namespace).aggregate(
                        pipeline,
                        options: [
                            "maxTimeMS": .integer(Self.milliseconds), "collation": ["locale": "simple"],
                            "comment": "shipshape plan",
                        ])
                    while let document = try cursor.nextDocument() {
                        guard let value = document["_id"], let count = document["n"]?.integer else { continue }
                        values.values.append((value, count))
                    }
                } catch {
                    guard error.isTimeLimit else { throw error }
                    continue
                }
                if values.values.count > Self.mostValues {
                    values.values.removeLast()
                    values.isPart = true
                }
                if !values.values.isEmpty { found[collection.namespace, default: [:]][finding] = values }
            }
        }
    }

    /// Returns the stages that count the values of a finding; `nil` if the user cannot choose other values for them, or
    /// if an expression cannot name the field.
    private static func pipeline(_ finding: ViolationGroup, _ allowed: [BSONValue]?) -> [BSONDocument]? {
        let (code, isInEnum) = (finding.violation.rule, finding.violation.rule.rule == .notInEnum)
        guard let type = finding.foundType, isInEnum || Repair(of: code) == .conversion,
            isInEnum || allowed != nil || type == .string
        else { return nil }
        var place = ""
        var stages: [BSONDocument] = [["$match": .object(finding.filter)], ["$limit": .integer(mostDocuments)]]
        for step in finding.violation.path.steps {
            switch step {
            case .field(let name) where !name.isEmpty && !name.contains(".") && !name.hasPrefix("$"):
                place += (place.isEmpty ? "" : ".") + name
            case .elements where !place.isEmpty: stages.append(["$unwind": .string("$\(place)")])
            default: return nil
            }
        }
        guard !place.isEmpty else { return nil }
        let isBad: BSONDocument = ["$type": .string(type.description), "$nin": .array(of: allowed ?? [])]
        return stages + [
            ["$match": .object(BSONDocument([(place, .object(isBad))]))],
            ["$group": ["_id": .string("$\(place)"), "n": ["$sum": 1]]],
            ["$sort": ["n": -1, "_id": 1]], ["$limit": .integer(mostValues + 1)],
        ]
    }

    /// Returns the step that replaces the values of a finding by allowed ones.
    func remap(_ finding: ViolationGroup, of namespace: Namespace, _ field: String, to allowed: [BSONValue]) -> StepLine
    {
        let found = found[namespace]?[finding] ?? Found(isPart: true)
        let known = found.values.prefix(Self.mostShown).map(\.value)
        return .remap(
            field, known.filter { areShown || StepLine.near($0, among: allowed) != nil }, to: allowed,
            isPart: found.isPart || known.count < found.values.count
                || !areShown && known.contains { StepLine.near($0, among: allowed) == nil })
    }

    /// Returns a remark on the values of a finding; `nil` if they are not known.
    func remark(on finding: ViolationGroup, of namespace: Namespace) -> String? {
        guard let found = found[namespace]?[finding] else { return nil }
        let count = found.values.count
        let words = (found.isPart ? "at least " : "") + "\(count) distinct \(count == 1 ? "value" : "values")"
        let shown = found.values.prefix(areShown ? Self.mostShown : 0).map { value, count in
            "\(YAMLText.literal(value).prefix(64)) (\(count))"
        }
        return words + (shown.isEmpty ? "" : ": \(shown.joined(separator: ", "))")
            + (shown.isEmpty || shown.count == count ? "" : " and \(count - shown.count) others")
    }
}

extension StepLine {
    /// Returns the step that replaces forbidden values by allowed ones; other values stay unchanged.
    ///
    /// The user states the new values, except for those that differ from an allowed one in case and blanks alone.
    /// - Parameter isPart: whether there are further forbidden values, which the user has to state.
    static func remap(_ field: String, _ old: [BSONValue], to allowed: [BSONValue], isPart: Bool = false) -> StepLine {
        let pairs = old.map { old in
            "{from: \(YAMLText.literal(old)), to: \(near(old, among: allowed).map(YAMLText.literal) ?? "NEW VALUE")}"
        }
        let map = (pairs + (isPart ? ["{from: OLD VALUE, to: NEW VALUE}"] : [])).joined(separator: ", ")
        return StepLine(
            "map", ["field": .text(field), "values": .verbatim("[\(map)]"), "unmapped": .text("keep")])
    }

    /// Returns the allowed value from which a text differs in case and blanks alone; `nil` if there is none.
    static func near(_ value: BSONValue, among allowed: [BSONValue]) -> BSONValue? {
        func plain(_ text: String) -> String { text.lowercased().filter { !$0.isWhitespace } }
        guard let text = value.text.map(plain) else { return nil }
        return allowed.first { $0.text.map(plain) == text }
    }
}
