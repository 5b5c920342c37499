internal import ArgumentParser
internal import BSON
internal import Jobs
internal import Mongo
internal import Privileges
internal import Reporting
internal import ServerSchema
internal import SystemPackage

/// `shipshape grants [COMMAND] [FILE]`.
struct GrantsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grants",
        abstract: "Prints the role that a command needs: these actions on these collections, and no others.",
        discussion: """
            COMMAND is a command as it is typed: check, backfill, partner init. FILE is what it works on: the schema, the \
            job, the partner's job, or the folder of jobs; --collection names collections in its place. Without COMMAND \
            the needs of all commands are listed.

            Every command looks at its user's privileges before it begins, and ends with 77 when one is missing that it \
            cannot work without. Some it can go without, at the price of a guarantee; --full grants those, too. No \
            deployment is asked.
            """)

    /// The forms of a role.
    enum Form: String, ExpressibleByArgument, CaseIterable {
        case mongosh, atlas
    }

    @Argument(
        help: "The command, as it is typed, and then the schema, job or folder that it works on.", completion: .file())
    var words: [String] = []

    @Option(help: ArgumentHelp("A collection that it works on (repeatable).", valueName: "db.collection"))
    var collection: [String] = []

    @Option(
        help: ArgumentHelp("The place of check --history; a folder needs nothing.", valueName: "place"),
        completion: .directory, transform: HistoryPlace.init(parsing:))
    var history: HistoryPlace?

    @Flag(help: "Only what a dry run needs.")
    var dryRun = false

    @Flag(help: "Also grant what the command can go without: each of these keeps a guarantee.")
    var full = false

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "mongosh prints a createRole, atlas the JSON of a custom role for the Atlas Administration API.",
            valueName: "mongosh|atlas"))
    var output = Form.mongosh

    @OptionGroup(title: "Ledger") var ledger: LedgerFlags
    @OptionGroup(title: "State") var state: StateFlags

    func validate() throws {
        for name in collection where Namespace(name) == nil {
            throw ValidationError("--collection: \"\(name)\" is not DATABASE.COLLECTION")
        }
    }

    func run() async throws {
        guard !words.isEmpty else { return try Console.result(PrivilegeTable.markdown) }
        let (needs, files) = try command()
        let subject = try GrantSubject(
            files, for: needs.command, collections: collection.compactMap { Namespace($0) },
            state: state.stateDatabase, ledger: ledger, history: history)
        let role = Role(subject.isLive ? needs.readingValidators() : needs, on: subject.places, isFull: full)
        switch output {
        case .mongosh: try Console.result(role.mongosh())
        case .atlas:
            let (json, missing) = role.atlas()
            try Console.result(json)
            if !missing.isEmpty {
                Console.error(
                    "shipshape: warning: Atlas has no custom role for \(missing.joined(separator: ", ")): give the user "
                        + "a built-in role that has it")
            }
        }
        guard !full, needs.needs.contains(where: { $0.loss != nil }) else { return }
        let lost = needs.needs.compactMap { need in
            need.loss.map { "  \(need.actions.joined(separator: ", ")): else \($0)" }
        }
        Console.error((["with --full the role also grants:"] + lost).joined(separator: "\n"))
    }

    /// Returns the command that the words begin with, and the files after it.
    private func command() throws -> (CommandNeeds, [String]) {
        let typed = (1...2).reversed().compactMap { count -> (CommandNeeds, [String])? in
            guard words.count >= count else { return nil }
            let name = words.prefix(count).joined(separator: " ")
            return CommandNeeds.of(dryRun ? "\(name) --dry-run" : name).map { ($0, Array(words.dropFirst(count))) }
        }
        if let found = typed.first { return found }
        let names = CommandNeeds.all.map(\.command)
        let name = words[0] == "partner" ? words.prefix(2).joined(separator: " ") : words[0]
        if dryRun, names.contains(name) { throw UsageError("--dry-run: \(name) has no dry run") }
        let offline = Shipshape.configuration.subcommands.map { $0._commandName }.contains(words[0])
        let hint = Spelling.hint(for: name, among: names).map { " (\($0))" } ?? ""
        throw UsageError(
            offline && hint.isEmpty
                ? "\(name) asks no deployment, or has commands of its own: it needs no role"
                : "there is no command \"\(name)\"\(hint)")
    }
}
