import BSON

/// A document of `app.Note`, which is always valid; its `_id` has one of three types that the schema lists.
struct DemoNote: DemoRecipe {
    let index: Int

    var id: BSONValue {
        switch index % 5 {
        case 3: .string("note-\(index)")
        case 4: .long(Int64(index))
        default: .objectID(at: index, of: 4)
        }
    }

    func flaws(against version: DemoVersion) -> [DemoFlaw] { [] }

    var document: BSONDocument {
        var random = SplitMix64(collection: 4, index: index)
        return [
            "_id": id, "text": .string("\(random.pick(Words.verbs)) the \(random.pick(Words.nouns))"),
            "createdAt": .day(29_000 + random.below(1000)),
        ]
    }
}
