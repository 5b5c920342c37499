internal import ArgumentParser
internal import Check
internal import Concurrency
internal import Reporting

struct HistoryCommand: ConnectedCommand {
    static let configuration = CommandConfiguration(
        "history", "<place>",
        abstract: "Shows the trend over the checks that check --history stored.",
        examples: [
            "history checks --last 90",
            "history db:checks -o html",
        ],
        details: """
            Shows a line for each check: its time, its counts, and how many findings were new, grown, shrunk or gone \
            since the check before. A finding is what one rule reports for one path of one collection. A sparkline \
            above the lines shows the counts over time; -o html draws it.

            Entries that are no summary of a check are named and ignored.
            """)

    @Argument(
        help: ArgumentHelp("The place of check --history: a folder, or db:NAME.", valueName: "place"),
        completion: .directory, transform: HistoryPlace.init(parsing:))
    var place: HistoryPlace

    @Option(help: ArgumentHelp("How many of the newest checks to show.", valueName: "count"))
    var last = 30

    @Option(help: ArgumentHelp("First remove all checks but this many of the newest.", valueName: "count"))
    var keep: Int?

    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    func validate() throws {
        guard last >= 1 else { throw ValidationError("--last must be at least 1") }
        if let keep, keep < 1 { throw ValidationError("--keep must be at least 1") }
    }

    func work() throws -> Work {
        let folder: String? = if case .folder(let name) = place { name } else { nil }
        return Work("history", "\(place)", output: output, reads: [folder]) { frame in
            let store = try await store(in: frame)
            let (removed, history) = try await onOwnedThread(name: "history") { [keep] () throws in
                (try keep.map(store.keep), try store.read())
            }
            if let removed, !output.quiet { Console.error("removed \(removed.counted("check")) from \(place)") }
            return .result(HistoryResult(history, place: "\(place)", last: last))
        }
    }

    private func store(in frame: Frame) async throws -> any HistoryStore {
        switch place {
        case .folder(let name): return try HistoryFolder.forReading(name)
        case .database(let name):
            return HistoryDatabase(name, on: try await frame.pool(for: "history", on: place.resources))
        }
    }
}
