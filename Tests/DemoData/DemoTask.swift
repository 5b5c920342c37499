import BSON

/// A document of `app.Task`, in which the next schema changes the type of a field; its `_id` is a string.
struct DemoTask: DemoRecipe {
    private let index: Int
    private let status: Presence
    private let assignee: Presence
    private let hasPriority: Bool
    private let rest: SplitMix64

    init(index: Int) {
        var random = SplitMix64(collection: 3, index: index)
        self.index = index
        status = random.presence(missing: 2, null: 6)
        assignee = random.presence(missing: 25, null: 10)
        hasPriority = random.chance(90)
        rest = random
    }

    var id: BSONValue { .string("task-" + String(String(1_000_000 + index).dropFirst())) }

    func flaws(against version: DemoVersion) -> [DemoFlaw] {
        var flaws = [status.flaw("status")]
        guard version == .v2 else { return flaws.compactMap(\.self) }
        flaws.append(assignee.flaw("assignee"))
        if hasPriority { flaws.append(DemoFlaw("type-mismatch", "priority")) }
        return flaws.compactMap(\.self)
    }

    var document: BSONDocument {
        var random = rest
        var builder = BSONBuilder()
        builder.append("_id", id)
        builder.append("name", .string("\(random.pick(Words.verbs)) \(random.pick(Words.nouns))"))
        builder.append("status", status, .string(random.pick(Words.states)))
        builder.append("assignee", assignee, .string(random.pick(Words.firstNames)))
        if hasPriority { builder.append("priority", .string(String(1 + random.below(5)))) }
        builder.append("due", random.presence(missing: 300, null: 100), .day(30_000 + random.below(1000)))
        builder.append("isPrivate", .bool(random.chance(250)))
        return builder.finish()
    }
}
