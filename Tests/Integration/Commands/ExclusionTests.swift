import ArgumentParser
import Foundation
import Testing

@testable import ShipshapeCLI

/// Each command with a table of exclusions judges each pair of its options as the table says.
@Suite struct ExclusionTests {
    /// A rule of a table, without the type of its command.
    struct Rule {
        let first, second, sentence: String
        let isNeed: Bool
    }

    /// A command with its table, and positional arguments that it accepts.
    struct Case: CustomTestStringConvertible, Sendable {
        let type: any ExcludingCommand.Type
        let words: [String]
        let name: String

        var testDescription: String { name }

        var rules: [Rule] { type.rules }
    }

    /// The arguments and options without which a command line is not valid, by command.
    private static let words = [
        "check": ["schema"], "backfill": ["job.yml"], "diff": ["v1", "v2"], "plan": ["v1"],
        "partner plan": ["v1", "v2", "--collection", "a.b"],
    ]

    /// Every command of the program that has a table.
    private static let cases = cases(of: Shipshape.self, named: [])

    private static func cases(of type: any ParsableCommand.Type, named names: [String]) -> [Case] {
        let name = names.joined(separator: " ")
        let own = (type as? any ExcludingCommand.Type).map { [Case(type: $0, words: words[name] ?? [], name: name)] }
        return type.configuration.subcommands.reduce(own ?? []) { found, next in
            found + cases(of: next, named: names + [next._commandName])
        }
    }

    /// A value for each option that takes one, with which the option alone is valid.
    private static let values: [String: String] = [
        "--source": "dump", "--databases": "t_*", "--part": "1/2", "--sample": "9", "--where": "{}",
        "--accept": "agreed", "--expires": "never", "--failures": "failing.jsonl", "--history": "checks",
        "--map": "a=b", "--active": "v0", "--engine": "powersync", "--collection": "a.b", "--fail-on": "any",
        "--metrics": "m.prom", "--on": "start=true", "--uri": "mongodb://127.0.0.1/", "--config": "s.yml",
        "--env": "test", "--yes-protected": "test", "--output": "json", "--report": "r.html", "--ids": "ids.txt",
        "--until": "job", "--allow-unsync": "5", "--max-runtime": "1h", "--max-errors": "3", "--against": "v0",
        "--out": "out", "--default": "Person.a=1", "--combine": "P.a,b=c", "--split": "P.a=b,c", "--embed": "P.a",
        "--as": "prisma", "--cover": "99%", "--target": "a.c", "--service": "atlas",
        "--settings": "list", "--seconds": "5", "--seed": "5",
    ]
    /// Pairs that another rule than the table's refuses, because it depends on values or on positional arguments.
    private static let others: [String: Set<Set<String>>] = [
        "diff": [["--against"]], "plan": [["--combine"], ["--split"], ["--embed"]],
    ]

    @Test(arguments: cases) func eachPairOfOptionsIsJudgedByTheTable(_ command: Case) throws {
        let options = try Self.options(of: command.name)
        let refused = Self.others[command.name] ?? []
        for (index, first) in options.enumerated() {
            for second in options[(index + 1)...] {
                let pair = [first, second]
                if refused.contains(where: { $0.isSubset(of: pair) }) { continue }
                let given = pair + command.words
                let broken = command.rules.first { rule in
                    given.contains(rule.first) && given.contains(rule.second) != rule.isNeed
                }
                let words = command.words + pair.flatMap { [$0] + (Self.values[$0].map { [$0] } ?? []) }
                let message = Self.message(parsing: words, command.type)
                if let broken {
                    #expect(message == broken.sentence, "\(words)")
                    #expect(broken.sentence.contains(broken.first) && broken.sentence.contains(broken.second))
                } else {
                    #expect(message == nil, "\(words)")
                }
            }
        }
    }

    @Test func eachTableHasRules() {
        #expect(Self.cases.count >= 6)
        for command in Self.cases { #expect(!command.rules.isEmpty, "\(command.name)") }
    }

    private static func message(parsing words: [String], _ type: any ExcludingCommand.Type) -> String? {
        do {
            _ = try type.parse(words)
            return nil
        } catch { return type.message(for: error) }
    }

    /// Returns the long names of a command's options, as its own declaration has them.
    private static func options(of name: String) throws -> [String] {
        struct Tool: Decodable {
            let command: Command
        }
        struct Command: Decodable {
            struct Argument: Decodable {
                struct Name: Decodable {
                    let kind, name: String
                }
                let names: [Name]?
            }
            let commandName: String
            let subcommands: [Command]?
            let arguments: [Argument]?
        }
        var command = try JSONDecoder().decode(Tool.self, from: Data(Shipshape._dumpHelp().utf8)).command
        for word in name.split(separator: " ") {
            command = try #require(command.subcommands?.first { $0.commandName == word })
        }
        let names = (command.arguments ?? []).compactMap { $0.names?.first { $0.kind == "long" }?.name }
        return names.filter { $0 != "help" && $0 != "version" }.map { "--\($0)" }
    }
}

extension ExcludingCommand {
    /// The rules of the command's table, without the type of the command.
    fileprivate static var rules: [ExclusionTests.Rule] {
        exclusions.map {
            ExclusionTests.Rule(
                first: $0.first.name, second: $0.second.name, sentence: $0.sentence, isNeed: $0.isNeed)
        }
    }
}
