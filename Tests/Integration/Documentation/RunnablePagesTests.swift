import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests that the commands in the documentation's code blocks marked `sh run` work in the folder of the demo app.
///
/// The commands run with a tenth of the demo's documents. If a page says that its demo has this size, the test also
/// compares the output of the commands with the page.
@Suite struct RunnablePagesTests {
    /// A command of a page, and the line that the page shows as the beginning of its output.
    ///
    /// The line is `nil` if the page shows no output. If it ends in `…`, only the text before it is compared.
    struct Command {
        let text: String
        let shown: String?
    }

    static let pages = (try? ShownCommand.files().filter { !(try commands(of: $0).isEmpty) }) ?? []

    /// Returns the commands in a page's code blocks that are marked `sh run`; empty if there are none.
    ///
    /// If a code block has lines that begin with `$ `, only these lines are commands. Otherwise, each line is a
    /// command.
    static func commands(of page: String) throws -> [Command] {
        let text = try String(contentsOfFile: Repository.path(page).string, encoding: .utf8)
        return text.matches(of: /(?ms)^```sh run\n(.*?)^```$/).flatMap { fence -> [Command] in
            let lines = fence.1.split(separator: "\n").map(String.init)
            guard lines.contains(where: { $0.hasPrefix("$ ") }) else {
                return lines.map { Command(text: $0, shown: nil) }
            }
            return lines.indices.filter { lines[$0].hasPrefix("$ ") }.map { index in
                let next = lines.dropFirst(index + 1).first
                let isOutput = next.map { !$0.hasPrefix("$ ") && $0 != "…" } ?? false
                return Command(text: String(lines[index].dropFirst(2)), shown: isOutput ? next : nil)
            }
        }
    }

    @Test func pagesOfTheGuideAreRun() { #expect(Self.pages.count >= 5, "\(Self.pages)") }

    @Test(arguments: pages) func commandsOfAPageWorkAndPrintWhatThePageShows(
        _ page: String
    ) async throws {
        let mongod = try await Mongod.start()
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let load = try await Program.shell(
            #"cp -r "$1"/. "$2" && "$(dirname "$0")/demo-data" load --uri "$3" --scale 0.1"#,
            [Repository.path("scripts/demo-app").string, folder.path.string, mongod.uri])
        try #require(load.exitCode == 0, "\(load.errors)")
        let text = try String(contentsOfFile: Repository.path(page).string, encoding: .utf8)
        let isOfThisSize = text.contains("at a tenth of its size")
        for command in try Self.commands(of: page) {
            let run = try await Program.shell(
                #"cd "$1" && export SHIPSHAPE_URI="$2" PATH="$(dirname "$0"):$PATH" && eval "$3""#,
                [folder.path.string, mongod.uri, command.text])
            #expect([0, 1].contains(run.exitCode), "\(page): \(command.text): \(run.errors)")
            guard isOfThisSize, let shown = command.shown else { continue }
            let lines = (run.output + "\n" + run.errors).split(separator: "\n").map(String.init)
            let start = shown.hasSuffix("…") ? String(shown.dropLast()) : nil
            #expect(
                lines.contains { start.map($0.hasPrefix) ?? ($0 == shown) },
                "\(page): \(command.text): \(run.output.prefix(600))")
        }
    }
}
