internal import ArgumentParser
internal import Configuration
internal import Foundation
internal import LocatedYAML
internal import SchemaChange
internal import ServerSchema
internal import Synchronization

/// The settings from flags, environment variables and `shipshape.yml`, in this order of precedence.
struct Settings: Sendable {
    /// Where the value of a setting comes from.
    enum Source: Sendable, Hashable, CustomStringConvertible {
        case flag(String), variable(String), file(SourceLocation, environment: String?), fallback

        var description: String {
            switch self {
            case .flag(let name), .variable(let name): name
            case .file(let place, let environment):
                "\(place.file):\(place.line)" + (environment.map { " (\($0))" } ?? "")
            case .fallback: "default"
            }
        }
    }

    /// The value of a setting in this run.
    struct Value: Sendable {
        let setting: Setting
        let text: String
        let source: Source
    }

    /// The configuration file that was read.
    let file: ConfigurationFile
    /// The environment that `--env` or `SHIPSHAPE_ENV` names; `nil` if there is none.
    let environment: String?
    /// The environment variable that `shipshape.yml` names for the connection string, if the variable is not set.
    ///
    /// `nil` if it is set, or if the connection string is also given elsewhere.
    let unsetVariable: String?
    private let values: [String: Value]
    /// The flags that select the configuration, the state database and the ledger, with their values on the command
    /// line.
    let selection: [(name: String, value: String)]
    /// The environment that `--yes-protected` names; `nil` without that flag.
    private let allowed: String?

    /// Reads the settings of a run.
    /// - Parameter arguments: the arguments after the program's name.
    /// - Throws: ``LocatedError`` for an error in the file; ``UsageError`` for an unknown environment.
    init(_ arguments: [String], variables: [String: String]) throws {
        let given = GivenFlags(arguments)
        let set = variables.filter { $0.key.hasPrefix("SHIPSHAPE_") && !$0.value.isEmpty }
        file = try ConfigurationFile.read(at: given["--config"], variables: variables.filter { !$0.value.isEmpty })
        environment = given["--env"] ?? set["SHIPSHAPE_ENV"]
        allowed = given["--yes-protected"]
        selection = ["--config", "--env", "--state-database", "--ledger", "--app-id"].compactMap { name in
            given[name].map { (name, $0) }
        }
        let section = try file.section(environment, isOfFlag: given["--env"] != nil)
        let flags = Dictionary(
            uniqueKeysWithValues: Setting.all.compactMap { setting in given[setting.flag].map { (setting.name, $0) } })
        // If the chosen environment of `shipshape.yml` takes a value from an environment variable, the file's top-level
        // value is not used, even if the variable is not set. Otherwise, a command could work on a deployment that the
        // operator did not choose.
        let base = file.values.filter { section[$0.key]?.variable == nil }
        let seen = SourceRecorder()
        let reader = ConfigReader(
            providers: [
                InMemoryProvider(name: "flags", flags), EnvironmentVariablesProvider(environmentVariables: set),
                InMemoryProvider(name: "environment", section.known), InMemoryProvider(name: "file", base.known),
            ], accessReporter: seen)
        var values: [String: Value] = [:]
        let chosen = environment
        for setting in Setting.all {
            let key = ConfigKey(["shipshape", setting.name])
            guard let text = reader.string(forKey: key, isSecret: setting.isSecret) else { continue }
            let source: Source? =
                switch seen.last {
                case 0: .flag(setting.flag)
                case 1: .variable(setting.variable)
                case 2: section[setting.name].map { .file($0.location, environment: chosen) }
                default: file.values[setting.name].map { .file($0.location, environment: nil) }
                }
            if let source { values[setting.name] = Value(setting: setting, text: text, source: source) }
        }
        self.values = values
        unsetVariable = values["uri"] == nil ? (section["uri"] ?? file.values["uri"])?.variable : nil
    }

    /// Creates settings without values.
    private init() {
        (file, environment, selection) = (ConfigurationFile(), nil, [])
        (allowed, values, unsetVariable) = (nil, [:], nil)
    }

    /// The value of a setting; `nil` if nothing sets it, even if it has a default.
    subscript(name: String) -> String? { values[name]?.text }

    /// Returns a setting's value and its source; `nil` if nothing sets it and it has no default.
    func value(of setting: Setting) -> Value? {
        values[setting.name] ?? setting.fallback.map { Value(setting: setting, text: $0, source: .fallback) }
    }

    // MARK: the settings of this run

    private static let stored = Mutex(Settings())

    /// The settings of this run.
    static var current: Settings { stored.withLock { $0 } }

    /// Makes these settings the ones that ``current`` returns.
    func store() { Self.stored.withLock { $0 = self } }
}

// MARK: flags

extension Settings {
    /// Returns the settings that take the place of flags that the user did not give, each with the arguments to add to
    /// the command line.
    /// - Parameter accepted: returns the flags that the command takes; called only if a setting can replace a flag.
    func replacedFlags(
        for accepted: () throws -> Set<String>, in arguments: [String]
    ) throws -> [(value: Value, arguments: [String])] {
        let given = GivenFlags(arguments)
        let set = Setting.all.filter { $0.replacesFlag && given[$0.flag] == nil && values[$0.name] != nil }
        guard !set.isEmpty else { return [] }
        let accepted = try accepted()
        // A dump has no ledger. For a dump, a ledger is therefore read only if a flag names it, and not if a setting
        // does.
        let isOfSource = given["--source"] != nil
        return set.compactMap { setting in
            guard accepted.contains(setting.flag), let value = values[setting.name] else { return nil }
            let isOfLedger = setting.name == "ledger" || setting.name == "app-id"
            if isOfLedger, isOfSource || setting.name == "app-id" && self["ledger"] == "none" { return nil }
            guard setting.kind == .flag else { return (value, ["\(setting.flag)=\(value.text)"]) }
            return ["true", "yes", "on", "1"].contains(value.text.lowercased()) ? (value, [setting.flag]) : nil
        }
    }
}

/// The flags of a command line and their values, as the user typed them.
struct GivenFlags {
    private var values: [String: String] = [:]

    init(_ arguments: [String]) {
        let words = arguments.prefix { $0 != "--" }
        for (index, word) in words.enumerated() where word.hasPrefix("--") {
            let name = String(word.prefix { $0 != "=" })
            let isJoined = name.count < word.count
            let next = words.dropFirst(index + 1).first
            values[name == "--app" ? "--app-id" : name] =
                isJoined ? String(word.dropFirst(name.count + 1)) : next.map { $0.hasPrefix("--") ? "" : $0 } ?? ""
        }
    }

    /// The value of a flag; `nil` if the flag was not given.
    ///
    /// For a flag that takes no value, the result is the next word of the command line. The result is empty if there is
    /// no next word, or if the next word is a flag.
    subscript(flag: String) -> String? { values[flag] }
}

// MARK: protected environments

extension Settings {
    /// The protected environment that this run would write to; `nil` if there is none.
    ///
    /// This is the environment that the operator chose or, if that one is not protected, a protected environment whose
    /// connection string this run uses.
    private var protected: String? {
        if let environment, file.environments[environment]?.isProtected == true { return environment }
        guard let uri = self["uri"] else { return nil }
        return file.environments.first { $0.value.isProtected && $0.value.values["uri"]?.text == uri }?.key
    }

    /// Asks the operator to confirm that a command writes to a protected environment.
    /// - Throws: ``UsageError`` without a terminal or for a wrong `--yes-protected`; ``ExitStatus/stopped`` after a
    ///   wrong answer.
    func confirmWriting(_ command: String) throws {
        guard let name = protected else { return }
        if let allowed {
            guard allowed == name else {
                throw UsageError(
                    "nothing was written: --yes-protected names \"\(allowed)\", but the environment is \"\(name)\"")
            }
            return
        }
        let what = "the environment \"\(name)\" is protected, and \(command) writes to it"
        try Console.confirm(
            "\(what). Type its name to continue:", by: name, orElse: "nothing was written",
            offTerminal: "\(command) needs --yes-protected \(name), because that environment is protected")
    }
}

// MARK: reading

extension [String: ConfigurationFile.Entry] {
    /// The values that are not empty, by the names of their settings.
    fileprivate var known: [String: String] { mapValues(\.text).filter { !$0.value.isEmpty } }
}

extension InMemoryProvider {
    fileprivate init(name: String, _ texts: [String: String]) {
        self.init(
            name: name,
            values: Dictionary(
                uniqueKeysWithValues: texts.map { name, text in
                    (AbsoluteConfigKey(["shipshape", name]), ConfigValue(.string(text), isSecret: true))
                }))
    }
}

/// Records which provider supplied the value that was read last.
///
/// The provider is recorded as its index in the order of precedence.
private final class SourceRecorder: AccessReporter {
    private let index = Mutex<Int?>(nil)

    var last: Int? { index.withLock { $0 } }

    func report(_ event: AccessEvent) {
        let found = event.providerResults.firstIndex { result in
            if case .success(let lookup) = result.result { lookup.value != nil } else { false }
        }
        index.withLock { $0 = found }
    }
}
