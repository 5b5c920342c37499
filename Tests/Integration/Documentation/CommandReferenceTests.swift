import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests that the pages of commands and privileges are current, and that pages show only existing commands and links.
@Suite struct CommandReferenceTests {
    @Test func thePageOfCommandsIsWhatHelpSays() async throws {
        let script = Repository.path("scripts/reference").string
        let page = try await Program.shell(#""$1" --print "$0""#, [script])
        #expect(page.exitCode == 0, "\(page.errors)")
        let existing = try String(contentsOfFile: Repository.path("docs/reference/commands.md").string, encoding: .utf8)
        #expect(page.output == existing, "run scripts/reference")
    }

    @Test func thePageOfPrivilegesIsWhatGrantsSays() async throws {
        let page = try await Program.run(["grants"])
        let existing = try String(
            contentsOfFile: Repository.path("docs/reference/privileges.md").string, encoding: .utf8)
        #expect(page.output == existing, "run scripts/reference")
    }

    /// Finds commands and flags that a page or a scheduler's file shows and the program does not have.
    ///
    /// A flag that is renamed in the program must also be renamed in these files.
    @Test func everyCommandThatIsShownIsOneOfTheProgramWithFlagsThatItHas() async throws {
        let reference = try String(
            contentsOfFile: Repository.path("docs/reference/commands.md").string, encoding: .utf8)
        var flags: [String: Set<String>] = [:]
        for section in reference.components(separatedBy: "\n## shipshape ").dropFirst() {
            flags[String(section.prefix { $0 != "\n" }), default: []].formUnion(
                section.matches(of: /(?m)^ +(-\w, )?(--[a-z-]+)/).flatMap { match in
                    [match.1.map { String($0.prefix(2)) }, String(match.2)].compactMap(\.self)
                })
        }
        try #require(flags.count > 10)
        var shown = 0
        for file in try ShownCommand.files() {
            for command in try ShownCommand.all(in: file) {
                shown += 1
                let name = try #require(
                    [command.words.prefix(2), command.words.prefix(1)].map { $0.joined(separator: " ") }
                        .first { flags[$0] != nil }, "\(file): shipshape \(command.words)")
                for flag in command.flags { #expect(flags[name]?.contains(flag) == true, "\(file): \(name) \(flag)") }
            }
        }
        #expect(shown > 60)
    }

    /// Finds links to a file or a heading that does not exist.
    @Test func everyLinkBetweenThePagesLeadsSomewhere() throws {
        for file in try ShownCommand.files() where file.hasSuffix(".md") {
            // In a block of code, brackets and parentheses are no link.
            let text = try String(contentsOfFile: Repository.path(file).string, encoding: .utf8)
                .replacing(/(?ms)^```.*?^```$/, with: "")
            for match in text.matches(of: /\]\((?!https?:)([^)#\s]*)(#[^)\s]+)?\)/) {
                let own = FilePath(file)
                let target =
                    match.1.isEmpty ? own : own.removingLastComponent().appending(String(match.1)).lexicallyNormalized()
                let path = Repository.path(target.string).string
                #expect(FileManager.default.fileExists(atPath: path), "\(file): \(match.1)")
                guard let anchor = match.2, let page = try? String(contentsOfFile: path, encoding: .utf8) else {
                    continue
                }
                let headings = page.matches(of: /(?m)^#+ (.+)$/).map { heading in
                    "#"
                        + heading.1.lowercased().filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
                        .replacing(" ", with: "-")
                }
                #expect(headings.contains(String(anchor)), "\(file): \(match.1)\(anchor)")
            }
        }
    }
}
