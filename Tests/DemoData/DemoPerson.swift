import BSON

/// A document of `app.Person`: nested data with the flaws of a web form that changed over the years.
///
/// The `_id` is an ObjectId.
struct DemoPerson: DemoRecipe {
    private enum Age {
        case int, long, text
    }

    private let index: Int
    private let people: Int
    private let age: Int
    private let ageType: Age
    private let lastName: Presence
    private let email: Presence
    private let yearsSinceBirth: Presence
    private let address: Presence
    private let country: Presence
    private let hasNullSetting: Bool
    private var rest: SplitMix64

    init(index: Int, of people: Int) {
        var random = SplitMix64(collection: 1, index: index)
        self.index = index
        self.people = people
        age = 1 + random.below(98)
        let draw = random.below(1000)
        ageType = draw < 6 ? .text : draw < 8 ? .long : .int
        lastName = random.presence(missing: 2, null: 2)
        // The old web form had neither an email nor the years since birth.
        let isOld = random.chance(125)
        email = isOld ? .missing : random.presence(missing: 5, null: 25)
        yearsSinceBirth = isOld ? .missing : .present
        address = random.presence(missing: 250, null: 50)
        country = random.presence(missing: 35, null: 5)
        hasNullSetting = random.chance(1)
        rest = random
    }

    var id: BSONValue { Self.id(at: index) }

    static func id(at index: Int) -> BSONValue { .objectID(at: index, of: 1) }

    func flaws(against version: DemoVersion) -> [DemoFlaw] {
        var flaws = [lastName.flaw("lastName")]
        switch ageType {
        case .int: break
        case .long: flaws.append(DemoFlaw("numeric-width-mismatch", "age", .possible))
        case .text: flaws.append(DemoFlaw("type-mismatch", "age"))
        }
        if hasNullSetting { flaws.append(DemoFlaw("dictionary-value-null", "settings{}", .possible)) }
        guard version == .v2 else { return flaws.compactMap(\.self) }
        flaws += [email.flaw("email"), yearsSinceBirth.flaw("yearsSinceBirth")]
        if address == .present { flaws.append(country.flaw("address.country", embedded: true)) }
        return flaws.compactMap(\.self)
    }

    var document: BSONDocument {
        var random = rest
        let first = random.pick(Words.firstNames)
        let last = random.pick(Words.lastNames)
        var builder = BSONBuilder()
        builder.append("_id", id)
        builder.append("firstName", .string(first))
        builder.append("lastName", lastName, .string(last))
        builder.append("age", ageValue)
        builder.append("email", email, .string("\(first).\(last).\(index)@example.com"))
        builder.append("yearsSinceBirth", yearsSinceBirth, .int(Int32(age)))
        builder.append("nickname", random.presence(missing: 500, null: 200), .string(String(first.prefix(3))))
        builder.append("birthday", random.presence(missing: 300, null: 50), .day(random.below(25_000)))
        builder.append("balance", .cents(random.below(1_000_000)))
        builder.append("height", .double(Double(100 + random.below(100)) + 0.5))
        builder.append("address", address, addressValue(&random))
        builder.append("tags", .array(of: (0..<random.below(4)).map { _ in .string(random.pick(Words.tags)) }))
        let badge = random.below(1000)
        builder.append("badges", .array(of: (0..<random.below(3)).map { .int(Int32(badge + $0)) }))
        builder.append("settings", settings(&random))
        if random.chance(300) { builder.append("mentor", Self.id(at: random.below(people))) }
        if random.chance(200) { builder.append("legacyScore", .int(Int32(random.below(100)))) }
        return builder.finish()
    }

    private var ageValue: BSONValue {
        switch ageType {
        case .int: .int(Int32(age))
        case .long: .long(Int64(age))
        case .text: .string(String(age))
        }
    }

    private func addressValue(_ random: inout SplitMix64) -> BSONValue {
        let place = random.below(Words.cities.count)
        var builder = BSONBuilder()
        builder.append("street", .string("\(1 + random.below(200)) \(random.pick(Words.streets))"))
        builder.append("city", .string(Words.cities[place]))
        builder.append("country", country, .string(random.pick(Words.countries)))
        return .object(builder.finish())
    }

    private func settings(_ random: inout SplitMix64) -> BSONValue {
        var builder = BSONBuilder()
        for name in Words.settings where random.chance(300) { builder.append(name, .string(random.pick(Words.values))) }
        if hasNullSetting { builder.append("avatar", .null) }
        return .object(builder.finish())
    }
}
