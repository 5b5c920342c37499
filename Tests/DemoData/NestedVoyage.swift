public import BSON

/// Documents for measurements: about 2 KiB, with links, dictionaries, and lists of objects that contain lists.
///
/// All of the documents fit the schema in `Benchmarks/nested`.
public enum NestedVoyage {
    /// Returns the document at an index; the same index always gives the same document.
    public static func document(at index: Int) -> BSONDocument {
        var random = SplitMix64(collection: 8, index: index)
        let departed = 27_000 + random.below(2_000)
        return [
            "_id": .objectID(at: index, of: 8),
            "name": .string("\(random.pick(Words.cities)) to \(random.pick(Words.cities)), voyage \(index)"),
            "ship": .string("The \(random.pick(Words.dogs))"), "departed": .day(departed),
            "arrived": .day(departed + 1 + random.below(60)), "miles": .double(Double(random.below(100_000)) / 10),
            "cost": .cents(random.below(100_000_000)), "isInsured": .bool(random.chance(700)),
            "captain": ["name": name(&random), "age": .integer(30 + random.below(40)), "home": port(&random)],
            "crew": .array(of: (0..<5).map { _ in sailor(&random) }),
            "cargo": .array(of: (0..<4).map { _ in cargo(&random) }),
            "winds": .object(BSONDocument((0..<8).map { ("day\($0)", .integer(random.below(13))) })),
            "ratings": .object(BSONDocument(Words.states.map { ($0, .double(Double(random.below(50)) / 10)) })),
            "flags": .array(of: Words.tags.prefix(2 + random.below(4)).map { .string($0) }),
            "remark": random.chance(500) ? .string(random.pick(Words.nouns)) : .integer(random.below(1_000)),
            "previous": .objectID(at: max(0, index - 1), of: 8),
            "related": .array(of: (0..<3).map { _ in .objectID(at: random.below(index + 1), of: 8) }),
        ]
    }

    private static func name(_ random: inout SplitMix64) -> BSONValue {
        .string("\(random.pick(Words.firstNames)) \(random.pick(Words.lastNames))")
    }

    private static func port(_ random: inout SplitMix64) -> BSONValue {
        ["city": .string(random.pick(Words.cities)), "country": .string(random.pick(Words.countries))]
    }

    private static func sailor(_ random: inout SplitMix64) -> BSONValue {
        [
            "name": name(&random), "role": .string(random.pick(Words.verbs)), "since": .day(random.below(25_000)),
            "skills": .array(of: (0..<3).map { _ in .string(random.pick(Words.nouns)) }),
        ]
    }

    private static func cargo(_ random: inout SplitMix64) -> BSONValue {
        let kilograms = 100 + random.below(10_000)
        return [
            "what": .string(random.pick(Words.toys)), "kilograms": .integer(kilograms), "port": port(&random),
            "labels": .object(BSONDocument(Words.settings.prefix(3).map { ($0, .string(random.pick(Words.values))) })),
            "weighings": .array(
                of: (0..<2).map { day in
                    ["at": .day(27_000 + day), "kilograms": .double(Double(kilograms) + Double(random.below(10)) / 10)]
                }),
        ]
    }
}
