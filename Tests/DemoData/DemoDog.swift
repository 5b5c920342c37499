import BSON

/// A document of `app.Dog`: a dog, usually with a link to its owner.
///
/// The `_id` is a long. A few documents have an int instead, which Sync treats in the same way.
struct DemoDog: DemoRecipe {
    private let index: Int
    private let people: Int
    private let hasShortID: Bool
    private let name: Presence
    private let weight: Presence
    private let hasWholeWeight: Bool
    private let hasFee: Bool
    private let rest: SplitMix64

    init(index: Int, people: Int) {
        var random = SplitMix64(collection: 2, index: index)
        self.index = index
        self.people = people
        hasShortID = random.chance(3)
        name = random.presence(missing: 4, null: 0)
        weight = random.presence(missing: 80, null: 30)
        hasWholeWeight = random.chance(5)
        hasFee = random.chance(30)
        rest = random
    }

    var id: BSONValue {
        let number = 1_000_000 + index
        return hasShortID ? .int(Int32(number)) : .long(Int64(number))
    }

    func flaws(against version: DemoVersion) -> [DemoFlaw] {
        var flaws = [name.flaw("name")]
        if weight == .present, hasWholeWeight { flaws.append(DemoFlaw("numeric-width-mismatch", "weight", .possible)) }
        guard version == .v2 else { return flaws.compactMap(\.self) }
        flaws.append(weight.flaw("weight"))
        if hasFee { flaws.append(DemoFlaw("numeric-width-mismatch", "fee", .possible)) }
        return flaws.compactMap(\.self)
    }

    var document: BSONDocument {
        var random = rest
        var builder = BSONBuilder()
        builder.append("_id", id)
        builder.append("name", name, .string(random.pick(Words.dogs)))
        builder.append("breed", random.presence(missing: 100, null: 100), .string(random.pick(Words.breeds)))
        let kilograms = 2 + random.below(60)
        builder.append("weight", weight, hasWholeWeight ? .int(Int32(kilograms)) : .double(Double(kilograms) + 0.25))
        if hasFee { builder.append("fee", .long(Int64(10 + random.below(90)))) }
        if random.chance(900) { builder.append("owner", DemoPerson.id(at: random.below(people))) }
        builder.append("vaccinations", .array(of: (0..<random.below(3)).map { _ in .day(27_000 + random.below(2000)) }))
        let toy = random.below(Words.toys.count - 1)
        builder.append("toys", .array(of: Words.toys[toy...toy + 1].map { .string($0) }))
        return builder.finish()
    }
}
