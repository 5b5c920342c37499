internal import ArgumentParser
internal import BSON
internal import Check
internal import Files
internal import Privileges
internal import ServerSchema

struct GrantsCommand: OfflineCommand {
    static let configuration = CommandConfiguration(
        "grants", "[<command>] [<file> ...]",
        abstract: "Prints the role that a command needs: only these actions, only on these collections.",
        examples: [
            "grants check schemas/v2",
            "grants backfill jobs/app.person.yml --full -o atlas",
            "grants partner init person-v2.yml",
        ],
        details: """
            COMMAND is a command as it is typed, such as check, backfill or partner init. FILE is what it works on: \
            the schema, the job, the partner job, or the folder of jobs; --collection names collections instead. \
            Without COMMAND, the needs of all commands are listed.

            Every command but doctor checks its user's privileges before it begins, and ends with 77 if a required one \
            is missing. Without an optional privilege it works, but gives up a guarantee; --full grants these, too. \
            grants connects to no deployment.
            """)

    /// The formats in which a role can be printed.
    enum Form: String, ExpressibleByArgument, CaseIterable {
        case mongosh, atlas
    }

    @Argument(
        help: "The command as it is typed, then the schema, job or folder that it works on.", completion: .file())
    var words: [String] = []

    @Option(
        help: ArgumentHelp("A collection that the command works on (repeatable).", valueName: "db.collection"),
        completion: .collections)
    var collection: [String] = []

    @Option(
        help: ArgumentHelp("The place of check --history; a folder needs no privilege.", valueName: "place"),
        completion: .directory, transform: HistoryPlace.init(parsing:))
    var history: HistoryPlace?

    @Option(
        help: ArgumentHelp(
            "The collection of check --failures; a file needs no privilege.", valueName: "db:name.collection"),
        transform: FailuresFlags.collection(parsing:))
    var failures: Namespace?

    @Flag(help: "Grant only what a dry run needs.")
    var dryRun = false

    @Flag(help: "Also grant optional privileges, each of which keeps a guarantee.")
    var full = false

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "mongosh prints a createRole command, atlas the JSON of a custom role for the Atlas Administration API.",
            valueName: "mongosh|atlas"))
    var output = Form.mongosh

    @OptionGroup(title: "Engine") var engine: EngineFlags

    func validate() throws {
        for name in collection where Namespace(name) == nil {
            throw ValidationError("--collection: \"\(name)\" is not DATABASE.COLLECTION")
        }
    }

    func work() throws -> Work {
        Work("grants") { _ in
            guard !words.isEmpty else { return .raw(PrivilegeTable.markdown) }
            let (needs, files) = try command()
            let subject = try GrantSubject(
                files, for: needs.command, collections: collection.compactMap { Namespace($0) }, engine: engine,
                history: history, failures: failures)
            let role = Role(subject.isLive ? needs.readingValidators() : needs, on: subject.places, isFull: full)
            var outcome: CommandOutcome
            var notes: [String] = []
            switch output {
            case .mongosh: outcome = .raw(role.mongosh())
            case .atlas:
                let (json, missing) = role.atlas()
                outcome = .raw(json)
                if !missing.isEmpty {
                    notes.append(
                        "shipshape: warning: Atlas has no custom role for \(missing.joined(separator: ", ")): give the "
                            + "user a built-in role that has it")
                }
            }
            let lost =
                full
                ? []
                : needs.needs.compactMap { need in
                    need.loss.map { "  \(need.actions.joined(separator: ", ")) (without it: \($0))" }
                }
            if !lost.isEmpty { notes.append((["with --full, the role also grants:"] + lost).joined(separator: "\n")) }
            outcome.after = { [notes] in notes.forEach { Console.error($0) } }
            return outcome
        }
    }

    /// Returns the privileges that the named command needs, and the arguments after the command's name, which are
    /// files.
    private func command() throws -> (CommandNeeds, [String]) {
        let typed = (1...2).reversed().compactMap { count -> (CommandNeeds, [String])? in
            guard words.count >= count else { return nil }
            let name = words.prefix(count).joined(separator: " ")
            return CommandNeeds.of(dryRun ? "\(name) --dry-run" : name).map { ($0, Array(words.dropFirst(count))) }
        }
        if let found = typed.first { return found }
        let names = CommandNeeds.all.map(\.command)
        let named = Shipshape.configuration.subcommands.first { $0._commandName == words[0] }
        let inner = named?.configuration.subcommands.map { $0._commandName } ?? []
        let name = words.prefix(inner.isEmpty ? 1 : 2).joined(separator: " ")
        if dryRun, names.contains(name) { throw UsageError("--dry-run: \(name) has no dry run") }
        if named != nil, inner.isEmpty || inner.contains(words.dropFirst().first ?? "") {
            throw UsageError("\(name) needs no role: it connects to no deployment")
        }
        let hint = Spelling.hint(for: name, among: names).map { " (\($0))" } ?? ""
        throw UsageError("there is no command \"\(name)\"\(hint)")
    }
}
