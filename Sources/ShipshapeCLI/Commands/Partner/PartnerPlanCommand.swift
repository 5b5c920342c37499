internal import ArgumentParser
internal import BSON
internal import Files
internal import Partners
internal import Planning
internal import Reporting
internal import SchemaChange
internal import ServerSchema
internal import SystemPackage

/// The command `shipshape partner plan OLD NEW`, and with `--triggers`, `shipshape partner plan JOB --triggers`.
struct PartnerPlanCommand: ConnectedCommand, ExcludingCommand {
    static let configuration = CommandConfiguration(
        "partner plan", "(<old> <new> --collection <db.collection> | <job> --triggers)",
        abstract: "Writes the partner job for the change of a collection, or the triggers that do a mirror's work.",
        examples: [
            "partner plan v1 v2 --collection app.person --out person-v2.yml",
            "partner plan person-v2.yml --triggers --out app",
        ],
        details: """
            OLD is the active schema, NEW the next one, in which the collection has its old name or that of --target. \
            Without --out, the job goes to standard output. What the schemas leave open is a comment in the file, and \
            ends the command with exit code 1. Nothing is run, and no document is read. Fields with a new name come \
            from the list renames in shipshape.yml.

            --triggers is for apps whose App Services still run: for the partner job, it writes two triggers, two \
            functions and their configuration, which do what the mirror does, in both directions. If the app already \
            has a functions/config.json, add the new entries to it by hand. Nothing is deployed.
            """)

    @Argument(help: "The active and the next schema; with --triggers, the partner job file.", completion: .file())
    var inputs: [SchemaArgument]

    @Option(
        help: ArgumentHelp("The collection that gets a partner.", valueName: "db.collection"),
        completion: .collections)
    var collection: String?

    @Option(
        help: ArgumentHelp("The partner; default: the collection's name followed by V2.", valueName: "db.collection"),
        completion: .collections)
    var target: String?

    @Flag(help: "Write App Services triggers and functions for a partner job.")
    var triggers = false

    @Option(
        help: ArgumentHelp(
            "With --triggers: the name of the app's data source; default: mongodb-atlas.", valueName: "name"))
    var service: String?

    @Option(
        help: ArgumentHelp(
            "The job file to write, or the folder of --triggers; an existing file is not replaced.", valueName: "path"),
        completion: .file())
    var out: String?

    @OptionGroup(title: "Connection") var connection: ConnectionFlags

    static let exclusions: [Exclusion<Self>] = {
        let triggers = Given("--triggers") { $0.triggers }
        let ofSchemas = [
            Given("--collection") { $0.collection != nil },
            Given("--target") { $0.target != nil },
        ]
        let service = Given("--service") { $0.service != nil }
        return Exclusion<Self>.apart(triggers, each: ofSchemas, "the partner job names its collections: leave it out")
            + [.needs(service, triggers, "only triggers name a data source")]
    }()

    func validate() throws {
        try checkExclusions()
        for (option, name) in [("--collection", collection), ("--target", target)] {
            guard let name, Namespace(name) == nil else { continue }
            throw ValidationError("\(option): \"\(name)\" is not DATABASE.COLLECTION")
        }
        guard inputs.count == (triggers ? 1 : 2) else {
            throw ValidationError(triggers ? "--triggers takes one partner job file" : "name OLD and NEW, two schemas")
        }
        if !triggers, collection == nil {
            throw ValidationError("name the collection that gets a partner: --collection DATABASE.COLLECTION")
        }
    }

    func work() throws -> Work {
        Work { _ in
            guard !triggers else { return try writeTriggers() }
            guard let source = collection.flatMap({ Namespace($0) }) else {
                preconditionFailure("validate() checked the collection")
            }
            return try await plan(inputs[0], inputs[1], for: source)
        }
    }

    private func plan(_ old: SchemaArgument, _ new: SchemaArgument, for source: Namespace) async throws
        -> CommandOutcome
    {
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
        let draft = PartnerDraft(
            name: nil, source: source, target: partner,
            renames: Self.renames(of: source, title: first.root.title, in: Settings.current.renames),
            from: first.root, to: next.root)
        let text = PlanYAML.text(
            of: draft, old: old.name, new: new.name, oldPath: old.path(from: place), newPath: new.path(from: place))
        var outcome = CommandOutcome.raw(text, draft.open.isEmpty ? nil : ExitStatus.findings)
        if let out {
            try PartnerFiles.write(text, to: FilePath(out).lastComponent?.string ?? out, in: place.string)
            outcome.text = nil
        }
        outcome.after = { for clause in draft.open { Console.error("to decide: \(clause)") } }
        return outcome
    }

    /// Returns the renames of the fields of one collection, by their old names.
    private static func renames(of source: Namespace, title: String?, in all: [Rename]) -> [String: String] {
        let owners = ["\(source)."] + (title.map { ["\($0)."] } ?? [])
        let pairs = all.compactMap { rename in
            owners.first { rename.old.hasPrefix($0) }.map { (String(rename.old.dropFirst($0.count)), rename.new) }
        }
        return Dictionary(pairs) { first, _ in first }
    }

    private func writeTriggers() throws -> CommandOutcome {
        let partner = try PartnerArguments.read(inputs[0].name)
        let files = try PartnerTriggers(partner, service: service ?? "mongodb-atlas").files()
        guard let out else {
            return .raw(files.map { "// \($0.path)\n\($0.text)" }.joined(separator: "\n"))
        }
        for file in files { try PartnerFiles.write(file.text, to: file.path, in: out) }
        Console.error("wrote \(files.count) files below \(out): merge functions/config.json into the app's own")
        return .done
    }
}
