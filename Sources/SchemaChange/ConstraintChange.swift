internal import BSON
import ServerSchema

/// The constraint keywords of a value that restrict more than before, and those that restrict less.
struct ConstraintChange {
    private(set) var tightened: [String] = []
    private(set) var loosened: [String] = []
    /// The values that the old enum allows and the new one does not; empty without an old enum.
    private(set) var lostValues: [BSONValue] = []

    init(from old: SchemaNode, to new: SchemaNode) {
        let (before, after) = (old.constraints, new.constraints)
        bound("minimum", before.minimum, after.minimum, least: true)
        bound("maximum", before.maximum, after.maximum, least: false)
        counts("Length", before.length, after.length)
        counts("Items", before.itemCount, after.itemCount)
        counts("Properties", before.propertyCount, after.propertyCount)
        values(before.allowedValues, after.allowedValues)
        others(before, after, at: old.location)
    }

    private mutating func note(_ keyword: String, letsInLess: Bool) {
        if letsInLess { tightened.append(keyword) } else { loosened.append(keyword) }
    }

    /// Records whether a minimum or a maximum restricts more or less than before.
    ///
    /// A bound restricts more if it is new, or if it excludes more values.
    private mutating func bound(
        _ keyword: String, _ old: Constraints.Bound, _ new: Constraints.Bound, least: Bool
    ) {
        switch (old.number, new.number) {
        case (nil, nil): break
        case (nil, _?): note(keyword, letsInLess: true)
        case (_?, nil): note(keyword, letsInLess: false)
        case (let before?, let after?):
            switch after.compared(to: before) {
            case .equal: if old.isExclusive != new.isExclusive { note(keyword, letsInLess: new.isExclusive) }
            case .greater: note(keyword, letsInLess: least)
            case .less: note(keyword, letsInLess: !least)
            }
        }
    }

    /// Records the changes of two keywords, such as `minLength` and `maxLength` for the suffix `Length`.
    private mutating func counts(_ suffix: String, _ old: Constraints.CountRange, _ new: Constraints.CountRange) {
        let bound = { (count: Int64?) in Constraints.Bound(number: count.map { .long($0) }) }
        self.bound("min" + suffix, bound(old.minimum), bound(new.minimum), least: true)
        self.bound("max" + suffix, bound(old.maximum), bound(new.maximum), least: false)
    }

    private mutating func values(_ old: [BSONValue]?, _ new: [BSONValue]?) {
        guard let new else { return old == nil ? () : note("enum", letsInLess: false) }
        guard let old else { return note("enum", letsInLess: true) }
        guard old != new else { return }
        let (before, after) = (Set(old), Set(new))
        if !before.isSubset(of: after) {
            note("enum", letsInLess: true)
            lostValues = old.filter { !after.contains($0) }
        } else if !after.isSubset(of: before) {
            note("enum", letsInLess: false)
        }
    }

    /// Records the changes of the keywords other than `enum` and the bounds of numbers and counts, such as `pattern`.
    ///
    /// The program cannot say which of two patterns restricts more, so a changed value counts as restricting more.
    private mutating func others(_ old: Constraints, _ new: Constraints, at place: SourceLocation) {
        let (before, after) = (old.otherKeywords(at: place), new.otherKeywords(at: place))
        for (name, value) in before where after[name] == nil || after[name] != value {
            note(name, letsInLess: after[name] != nil)
        }
        for (name, _) in after where before[name] == nil { note(name, letsInLess: true) }
        tightened.sort()
        loosened.sort()
    }
}

extension ConstraintChange {
    /// A clause with the values that the enum no longer allows, at most ten of them; empty if there are none.
    var lostWords: String {
        let shown = lostValues.prefix(10).compactMap { try? $0.extendedJSON(.relaxed) }
        let more = lostValues.count > shown.count ? " and \(lostValues.count - shown.count) more" : ""
        return shown.isEmpty ? "" : ", no longer \(shown.joined(separator: ", "))\(more)"
    }
}

extension Constraints {
    /// Returns the keywords other than `enum` and the bounds of numbers and counts, each with its value.
    fileprivate func otherKeywords(at place: SourceLocation) -> [String: BSONValue] {
        var node = SchemaNode(location: place)
        node.constraints = self
        let ordered: Set<String> = [
            "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems",
            "maxItems", "minProperties", "maxProperties", "enum",
        ]
        let elements = (try? node.jsonSchema.elements()) ?? []
        return Dictionary(elements.filter { !ordered.contains($0.name) }.map { ($0.name, $0.value) }) { first, _ in
            first
        }
    }
}
