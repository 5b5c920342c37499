internal import ArgumentParser
internal import Concurrency
internal import Reporting

/// `shipshape history PLACE`.
struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Shows the trend over the checks that check --history kept.",
        discussion: """
            A line for each check: when it was, what it counted, and how many findings were new, grown, shrunk or gone \
            since the one before, a finding being what one rule says of one path of one collection. Above it the course \
            of the counts as a sparkline; -o html draws it.

            What is no summary of a check is named and passed over.
            """)

    @Argument(
        help: ArgumentHelp("What check --history names: a folder, or db:NAME.", valueName: "place"),
        completion: .directory, transform: HistoryPlace.init(parsing:))
    var place: HistoryPlace

    @Option(help: ArgumentHelp("How many checks to show, the newest.", valueName: "count"))
    var last = 30

    @Option(help: ArgumentHelp("Remove all checks but so many, the newest, before.", valueName: "count"))
    var keep: Int?

    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Output") var output: ResultFlags

    func validate() throws {
        guard last >= 1 else { throw ValidationError("--last must be at least 1") }
        if let keep, keep < 1 { throw ValidationError("--keep must be at least 1") }
    }

    func run() async throws {
        let store = try await store()
        let (removed, history) = try await onOwnedThread(name: "history") { [keep] () throws in
            (try keep.map(store.keep), try store.read())
        }
        if let removed, !output.quiet { Console.error("removed \(removed.counted("check")) from \(place)") }
        try output.show(HistoryResult(history, place: "\(place)", last: last))
    }

    private func store() async throws -> any HistoryStore {
        switch place {
        case .folder(let name):
            try output.prepare(reading: [name])
            return try HistoryFolder.forReading(name)
        case .database(let name):
            try output.prepare(reading: connection.files)
            let pool = try connection.pool()
            try await pool.requirePrivileges(for: "history", on: place.resources)
            return HistoryDatabase(name, on: pool)
        }
    }
}
