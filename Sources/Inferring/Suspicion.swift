import ServerSchema

/// A likely mistake in the data at a path, or something to consider before a schema is made from the data.
package enum Suspicion: String, Hashable, Sendable, CaseIterable {
    /// A type has fewer than 1% of the values that are not null.
    case rareType = "rare-type"
    /// The values have several types that are not rare, and not all of these types are numeric.
    case mixedTypes = "mixed-types"
    /// The values have more than one of the types int, long, double and decimal.
    case mixedNumbers = "mixed-numbers"
    /// All values that are not null are doubles that a 64-bit integer can hold exactly, such as 1.0.
    case wholeDoubles = "whole-doubles"
    /// At least nine in ten strings look like dates.
    case datesAsStrings = "dates-as-strings"
    /// At least nine in ten strings look like UUIDs.
    case uuidsAsStrings = "uuids-as-strings"
    /// At least nine in ten strings look like ObjectIds.
    case objectIDsAsStrings = "objectids-as-strings"
    /// At least nine in ten strings look like numbers.
    case numbersAsStrings = "numbers-as-strings"
    /// Fewer than one in a thousand objects has the field, and there are at least a thousand objects.
    case rareField = "rare-field"
    /// Every value is null, so it is unknown what the field is meant for.
    case onlyNull = "only-null"
    /// At least one value is binary data that is neither of subtype 0 nor a UUID of subtype 4, such as a UUID of the
    /// old subtype 3.
    case binarySubtype = "binary-subtype"

    static func all(
        of node: PathNode, _ types: [(type: SchemaType, count: Int)], presence: (count: Int, of: Int)?
    ) -> [Suspicion] {
        let solid = types.filter { $0.type != .null }
        let total = solid.reduce(0) { $0 + $1.count }
        guard total > 0 else { return [.onlyNull] }
        var found: [Suspicion] = []
        if solid.contains(where: { $0.count * 100 < total }) { found.append(.rareType) }
        let numbers: Set<SchemaType> = [.int, .long, .double, .decimal]
        let common = solid.filter { $0.count * 100 >= total }
        if common.count > 1, !common.allSatisfy({ numbers.contains($0.type) }) { found.append(.mixedTypes) }
        if solid.filter({ numbers.contains($0.type) }).count > 1 { found.append(.mixedNumbers) }
        if solid.count == 1, node.count(of: .integralDouble) == total { found.append(.wholeDoubles) }
        found += texts(node)
        if let presence, presence.of >= 1_000, presence.count * 1_000 < presence.of { found.append(.rareField) }
        if node.count(of: .otherBinary) > 0 { found.append(.binarySubtype) }
        return found
    }

    private static func texts(_ node: PathNode) -> [Suspicion] {
        let strings = node.count(of: .string)
        guard strings > 0 else { return [] }
        return [
            (node.hints.dates, Suspicion.datesAsStrings), (node.hints.uuids, .uuidsAsStrings),
            (node.hints.objectIDs, .objectIDsAsStrings), (node.hints.numbers, .numbersAsStrings),
        ].filter { $0.0 * 10 >= strings * 9 }.map(\.1)
    }
}
