internal import ArgumentParser
internal import Foundation
internal import LocatedYAML
internal import ServerSchema

extension Shipshape {
    /// Parses a command line; settings of the environment and of the configuration stand in for flags that are not given.
    /// - Throws: what parsing throws; ``LocatedError`` for a setting that the command does not take.
    static func parse(withSettings arguments: [String]) throws -> any ParsableCommand {
        let command = try parseAsRoot(arguments)
        // Help is told whatever the configuration says.
        guard let name = type(of: command).configuration.commandName ?? arguments.first, name != "help" else {
            return command
        }
        let settings = try Settings(arguments, variables: ProcessInfo.processInfo.environment)
        settings.hold()
        settings["log-format"].flatMap(Log.Format.init(rawValue:)).map { Log.format = $0 }
        let standIns = try settings.standIns(for: { try CommandFlags.accepted(by: arguments) }, in: arguments)
        guard !standIns.isEmpty else { return command }
        do {
            return try parseAsRoot(arguments.appending(standIns.flatMap(\.arguments)))
        } catch {
            // The operator's own words are good: which setting is not?
            for (value, words) in standIns {
                do { _ = try parseAsRoot(arguments.appending(words)) } catch {
                    let place: SourceLocation? =
                        if case .file(let location, _) = value.source { location } else { nil }
                    let name = place == nil ? value.setting.variable : "\"\(value.setting.name)\""
                    throw LocatedError("\(name): \(message(for: error))", at: place, isConfiguration: true)
                }
            }
            throw error
        }
    }
}

extension [String] {
    /// The arguments with flags behind them, before the mark behind which there are none.
    fileprivate func appending(_ flags: [String]) -> [String] {
        let end = firstIndex(of: "--") ?? endIndex
        return Array(self[..<end] + flags + self[end...])
    }
}

/// The flags of commands, as the argument parser knows them.
private enum CommandFlags {
    private struct Tool: Decodable {
        let command: Command
    }

    private struct Command: Decodable {
        let commandName: String
        let subcommands: [Command]?
        let arguments: [Argument]?
    }

    private struct Argument: Decodable {
        struct Name: Decodable {
            let name: String
        }
        let names: [Name]?
    }

    /// The long flags of the command that a command line begins with.
    static func accepted(by arguments: [String]) throws -> Set<String> {
        var command = try JSONDecoder().decode(Tool.self, from: Data(Shipshape._dumpHelp().utf8)).command
        for word in arguments {
            guard let next = command.subcommands?.first(where: { $0.commandName == word }) else { break }
            command = next
        }
        return Set((command.arguments ?? []).flatMap { $0.names ?? [] }.map { "--\($0.name)" })
    }
}
