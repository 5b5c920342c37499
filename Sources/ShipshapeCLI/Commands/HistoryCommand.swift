internal import ArgumentParser
internal import Reporting

/// `shipshape history FOLDER`.
struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Shows the trend over the checks that check --history kept.",
        discussion: """
            A line for each check: when it was, what it counted, and how many findings were new, grown, shrunk or gone \
            since the one before, a finding being what one rule says of one path of one collection. Above it the course \
            of the counts as a sparkline; -o html draws it.

            A file that is no summary of a check is named and passed over.
            """)

    @Argument(help: "The folder that check --history names.")
    var folder: String

    @Option(help: ArgumentHelp("How many checks to show, the newest.", valueName: "count"))
    var last = 30

    @Option(help: ArgumentHelp("Remove all checks but so many, the newest, before.", valueName: "count"))
    var keep: Int?

    @OptionGroup(title: "Output") var output: ResultFlags

    func validate() throws {
        guard last >= 1 else { throw ValidationError("--last must be at least 1") }
        if let keep, keep < 1 { throw ValidationError("--keep must be at least 1") }
    }

    func run() async throws {
        try output.prepare(reading: [folder])
        let place = try HistoryFolder.forReading(folder)
        if let keep {
            let removed = try place.keep(keep)
            if !output.quiet { Console.error("removed \(removed.counted("check")) from \(folder)") }
        }
        try output.show(HistoryResult(try place.read(), folder: folder, last: last))
    }
}
