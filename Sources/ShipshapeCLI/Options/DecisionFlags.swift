internal import ArgumentParser
internal import Planning

/// The flags for decisions that cannot be derived from two schemas: the values that fill new fields, and which fields
/// to combine, to split or to embed.
struct DecisionFlags: ParsableArguments {
    @Option(
        name: .customLong("default"),
        help: ArgumentHelp(
            "The value that fills a field, as JSON or extended JSON, $now for a date: Person.email=\"\" (repeatable).",
            discussion:
                "Write the type's title or the collection before the field. A text needs no quotation marks.",
            valueName: "type.field=value"), completion: .fields)
    var defaultTexts: [String] = []

    @Option(
        help: ArgumentHelp(
            "Fields of OLD that become one text of NEW, in this order: Person.firstName,lastName=fullName "
                + "(repeatable).",
            valueName: "old,old=new"), completion: .fields)
    var combine: [String] = []

    @Option(
        help: ArgumentHelp(
            "A text of OLD that becomes several fields of NEW, cut at each space: Person.name=firstName,lastName "
                + "(repeatable).",
            discussion: "To cut at another text, change \"by\" in the job file.", valueName: "old=new,new"),
        completion: .fields)
    var split: [String] = []

    @Option(
        help: ArgumentHelp(
            "A field of OLD with links whose documents become embedded objects in NEW: Person.pet (repeatable).",
            valueName: "old"), completion: .fields)
    var embed: [String] = []

    var defaults: [StatedDefault] { defaultTexts.compactMap { StatedDefault($0) } }

    var steps: [StatedStep] { all.compactMap { StatedStep($0, $1) } }

    private var all: [(StatedStep.Kind, String)] {
        combine.map { (.combine, $0) } + split.map { (.split, $0) } + embed.map { (.embed, $0) }
    }

    func validate() throws {
        for text in defaultTexts where StatedDefault(text) == nil {
            throw ValidationError(
                "--default \(text.prefix { $0 != "=" }): write TYPE.field=VALUE, such as Person.email=\"\"")
        }
        guard let (kind, text) = all.first(where: { StatedStep($0, $1) == nil }) else { return }
        let form =
            switch kind {
            case .combine: "TYPE.field,field=NEW, such as Person.firstName,lastName=fullName"
            case .split: "TYPE.field=NEW,NEW, such as Person.name=firstName,lastName"
            case .embed: "TYPE.field, such as Person.pet"
            }
        throw ValidationError("--\(kind.rawValue) \(text): write \(form)")
    }
}
