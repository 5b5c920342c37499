internal import ArgumentParser
internal import BSON
internal import Planning
internal import Reporting
internal import ServerSchema
internal import SystemPackage

/// The command `shipshape partner plan OLD NEW`.
struct PartnerPlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "partner plan", "<old> <new> --collection <db.collection>",
        abstract: "Writes the partner job for the change of a collection between two schemas.",
        examples: [
            "partner plan v1 v2 --collection app.person --out person-v2.yml",
            "partner plan v1 v2 --collection app.person --rename age=years",
        ],
        details: """
            OLD is the active schema, NEW the next one, in which the collection has its old name or that of --target. \
            Without --out, the job goes to standard output. What the schemas leave open is a comment in the file, and \
            ends the command with exit code 1. Nothing is run, and no document is read.
            """)

    @Argument(help: "The active schema: a file, a folder, or live.")
    var old: SchemaArgument

    @Argument(help: "The next schema.")
    var new: SchemaArgument

    @Option(
        help: ArgumentHelp("The collection that gets a partner.", valueName: "db.collection"),
        completion: .collections)
    var collection: String

    @Option(
        help: ArgumentHelp("The partner; default: the collection's name followed by V2.", valueName: "db.collection"),
        completion: .collections)
    var target: String?

    @Option(help: ArgumentHelp("The job's name; default: the partner's.", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("A field's new name (repeatable).", valueName: "old=new"), completion: .fields)
    var rename: [String] = []

    @Option(
        help: ArgumentHelp("The job file to write; an existing file is not replaced.", valueName: "file"),
        completion: .file())
    var out: String?

    @OptionGroup(title: "Connection", visibility: .onOwnPage) var connection: ConnectionFlags
    @OptionGroup(title: "Output") var color: ColorFlags

    func validate() throws {
        for (flag, name) in [("--collection", collection), ("--target", target ?? "a.b")] where Namespace(name) == nil {
            throw ValidationError("\(flag): \"\(name)\" is not DATABASE.COLLECTION")
        }
        for text in rename where text.split(separator: "=").count != 2 {
            throw ValidationError("--rename \(text): write OLD=NEW, such as title=name")
        }
    }

    func run() async throws {
        guard let source = Namespace(collection) else { return }
        let partner = target.flatMap { Namespace($0) } ?? PartnerDraft.target(for: source)
        let before = try await old.readWhole(fileIsOf: source, connection: connection)
        var after = try await new.readWhole(fileIsOf: source, connection: connection)
        if after[source] == nil, after[partner] == nil {
            after = try await new.readWhole(fileIsOf: partner, connection: connection)
        }
        guard let first = before[source] else { throw UsageError("\(old.name) has no collection \(source)") }
        guard let next = after[partner] ?? after[source] else {
            throw UsageError("\(new.name) has neither \(partner) nor \(source)")
        }
        let folder = FilePath(out ?? "").removingLastComponent()
        let place = folder.isEmpty ? FilePath(".") : folder
        let renames = rename.map { text in
            let names = text.split(separator: "=").map(String.init)
            return (names[0], names[1])
        }
        let draft = PartnerDraft(
            name: name, source: source, target: partner, renames: Dictionary(renames) { first, _ in first },
            from: first.root, to: next.root)
        let text = PlanYAML.text(
            of: draft, old: old.name, new: new.name, oldPath: old.path(from: place), newPath: new.path(from: place))
        if let out {
            try PartnerFiles.write(text, to: FilePath(out).lastComponent?.string ?? out, in: place.string)
        } else {
            try Console.show(text)
        }
        for clause in draft.open { Console.error("to decide: \(clause)") }
        if !draft.open.isEmpty { throw ExitStatus.findings }
    }
}
