internal import ArgumentParser
internal import Foundation
internal import LocatedYAML
internal import ServerSchema

extension Shipshape {
    /// Parses a command line.
    ///
    /// For flags that the user did not give, settings from environment variables and the configuration file are used.
    /// - Throws: errors of parsing and of reading settings; ``LocatedError`` for a setting that the command refuses.
    static func parse(withSettings arguments: [String]) throws -> any ParsableCommand {
        let command = try parseAsRoot(arguments)
        // For help, no settings are read, so that help is shown even if the configuration is wrong.
        guard let name = type(of: command).configuration.commandName ?? arguments.first, name != "help" else {
            return command
        }
        let settings = try Settings(arguments, variables: ProcessInfo.processInfo.environment)
        settings.store()
        settings["log-format"].flatMap(Log.Format.init(rawValue:)).map { Log.format = $0 }
        let replacedFlags = try settings.replacedFlags(for: { try CommandFlags.accepted(by: arguments) }, in: arguments)
        guard !replacedFlags.isEmpty else { return command }
        do {
            return try parseAsRoot(arguments.appending(replacedFlags.flatMap(\.arguments)))
        } catch {
            // The command line alone is valid, so a setting is wrong. The loop tries each setting alone to find the
            // wrong one.
            for (value, words) in replacedFlags {
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
    /// Returns the arguments with flags added at the end, or before `--`, because no flags can follow `--`.
    fileprivate func appending(_ flags: [String]) -> [String] {
        let end = firstIndex(of: "--") ?? endIndex
        return Array(self[..<end] + flags + self[end...])
    }
}

/// The flags of each command, as the argument parser describes them.
enum CommandFlags {
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

    /// Returns the long flags, with hyphens, of the command that a command line begins with.
    static func accepted(by arguments: [String]) throws -> Set<String> {
        var command = try JSONDecoder().decode(Tool.self, from: Data(Shipshape._dumpHelp().utf8)).command
        for word in arguments {
            guard let next = command.subcommands?.first(where: { $0.commandName == word }) else { break }
            command = next
        }
        return Set((command.arguments ?? []).flatMap { $0.names ?? [] }.map { "--\($0.name)" })
    }
}
