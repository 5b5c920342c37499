import BSON

/// A document of `app.Note`, which is always valid; its `_id` has one of three types that the schema lists.
///
/// Some of the documents have values that a sync engine drops or changes.
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
        var builder = BSONBuilder()
        builder.append("_id", id)
        builder.append("text", .string("\(random.pick(Words.verbs)) the \(random.pick(Words.nouns))"))
        let day = random.below(1000)
        // In one of 400 documents, an import has stored nanoseconds where milliseconds belong.
        builder.append(
            "createdAt",
            index % 400 == 137 ? .date(milliseconds: Int64(18_000 + day) * 86_400_000_000_000) : .day(29_000 + day))
        // The average of the votes is NaN if there are no votes.
        if index % 3 == 2 { builder.append("rating", .double(index % 30 == 11 ? .nan : Double(index % 50) / 10)) }
        return builder.finish()
    }
}
