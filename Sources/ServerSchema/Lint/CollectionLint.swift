/// Lint rules for lists, sets and dictionaries: `array-items-missing`, `array-items-tuple`, `collection-nested`,
/// `collection-nullable-items`, `array-required`, `set-of-embedded`.
enum CollectionLint {
    static func findings(at place: LintPlace, in context: LintContext) -> [LintFinding] {
        var findings = items(place)
        if place.isHeld {
            findings += nesting(place)
            findings += nullability(place, isLink: context.isLink(place))
        }
        if place.isRequired, place.isCollection {
            findings.append(
                place.finding(
                    .arrayRequired, .warning,
                    "clients do not write empty collections, so their documents will lack it",
                    remedy: "leave it out of required"))
        }
        if place.node.isSet, case .each(let element) = place.node.items, element.isEmbedded {
            findings.append(
                place.finding(
                    .setOfEmbedded, .error, "a set cannot hold embedded objects", remedy: "make it a list"))
        }
        return findings
    }

    private static func items(_ place: LintPlace) -> [LintFinding] {
        guard place.node.types == [.array] else { return [] }
        switch place.node.items {
        case .each: return []
        case nil:
            return [
                place.finding(
                    .arrayItemsMissing, .error, "the array does not say what its elements are", remedy: "write items")
            ]
        case .tuple:
            return [
                place.finding(
                    .arrayItemsTuple, .error, "items lists schemas by position, which clients do not support",
                    remedy: "write one schema for all elements")
            ]
        }
    }

    private static func nesting(_ place: LintPlace) -> [LintFinding] {
        guard place.isCollection else { return [] }
        return [
            place.finding(
                .collectionNested, .error, "a collection is directly inside a collection",
                remedy: "put an embedded object between them, or write \"mixed\"")
        ]
    }

    private static func nullability(_ place: LintPlace, isLink: Bool) -> [LintFinding] {
        let types = place.node.types
        guard types.count > 1, types.contains(.null), !types.contains(.mixed) else { return [] }
        let isValue = place.path.steps.last == .values
        if isValue, isLink || types.contains(.object) { return [] }
        return [
            place.finding(
                .collectionNullableItems, .error, "the values of a collection cannot be null under Sync",
                remedy: "leave null out")
        ]
    }
}
