internal import Files
internal import LocatedYAML
internal import SchemaChange
internal import ServerSchema
internal import Synchronization

/// The settings of a run: each from its environment variable, else from `shipshape.yml`, else its default.
///
/// An option of the command line, where a setting has one, comes first; the code that uses the value says so.
struct Settings: Sendable {
    /// Where the value of a setting comes from.
    enum Source: Sendable, Hashable, CustomStringConvertible {
        case variable(String), file(SourceLocation, environment: String?), fallback

        var description: String {
            switch self {
            case .variable(let name): name
            case .file(let place, let environment):
                "\(place.file):\(place.line)" + (environment.map { " (\($0))" } ?? "")
            case .fallback: "default"
            }
        }
    }

    /// The value of a setting in this run, as it was written.
    struct Given: Sendable {
        let text: String
        let source: Source
        fileprivate let value: any Sendable
    }

    let file: ConfigurationFile
    /// The environment that `--env` or `SHIPSHAPE_ENV` names; `nil` if there is none.
    let environment: String?
    /// The renames between versions of the schema: those of `SHIPSHAPE_RENAMES`, then those of the file for other
    /// names.
    let renames: [Rename]
    /// The options of the command line that select the deployment and these settings.
    let selected: Selection
    private let given: [String: Given]

    /// The values of the options that select the deployment and the settings; `nil` for one that is not given.
    struct Selection: Sendable {
        var uri, config, environment, protected: String?
    }

    /// Reads the settings of a run.
    /// - Throws: ``LocatedError`` for an error in the file, or a value that is no value of its setting; ``UsageError``
    ///   for an unknown environment.
    init(_ selected: Selection, variables: [String: String]) throws {
        let set = variables.filter { !$0.value.isEmpty }
        self.selected = selected
        file = try ConfigurationFile.read(at: selected.config, variables: set)
        environment = selected.environment ?? set["SHIPSHAPE_ENV"]
        let section = try file.section(environment, isOfFlag: selected.environment != nil)
        var given: [String: Given] = [:]
        for setting in Known.all {
            if let text = set[setting.variable] {
                given[setting.name] = try Given(setting, text, .variable(setting.variable))
            } else if let entry = section[setting.name] {
                given[setting.name] = try Given(setting, entry, environment: environment)
            } else if let entry = file.values[setting.name] {
                given[setting.name] = try Given(setting, entry, environment: nil)
            }
        }
        self.given = given
        renames = try Self.renames(set["SHIPSHAPE_RENAMES"], file.renames)
    }

    private init() { (file, environment, renames, selected, given) = (ConfigurationFile(), nil, [], Selection(), [:]) }

    /// The value of a setting, or its default.
    subscript<Value>(setting: Setting<Value>) -> Value { given[setting.name]?.value as? Value ?? setting.fallback }

    /// The value of a setting as it was written; `nil` if nothing sets it.
    func given(_ setting: some AnySetting) -> Given? { given[setting.name] }

    private static func renames(_ variable: String?, _ kept: [Rename]) throws -> [Rename] {
        let stated: [Rename]
        do {
            stated = try variable?.split(separator: ",").map { try Rename($0.trimmed) } ?? []
        } catch {
            throw LocatedError("SHIPSHAPE_RENAMES: \(error)", isConfiguration: true)
        }
        return stated + kept.filter { entry in !stated.contains { $0.old == entry.old } }
    }

    // MARK: the settings of this run

    private static let stored = Mutex(Settings())

    static var current: Settings { stored.withLock { $0 } }

    /// Makes these settings the ones that ``current`` returns.
    func store() { Self.stored.withLock { $0 = self } }
}

extension Settings.Given {
    /// Reads the text of a setting.
    /// - Throws: ``LocatedError`` that names the source of the text, if the setting has no such value.
    fileprivate init(_ setting: some AnySetting, _ text: String, _ source: Settings.Source) throws {
        do {
            self.init(text: text, source: source, value: try setting.value(of: text))
        } catch {
            let place: SourceLocation? = if case .file(let location, _) = source { location } else { nil }
            throw LocatedError(
                "\(place == nil ? setting.variable : "\"\(setting.name)\""): \(error)", at: place,
                isConfiguration: true)
        }
    }

    /// Reads an entry of the file; its value is `nil` if the variable that it names is not set.
    fileprivate init(_ setting: some AnySetting, _ entry: ConfigurationFile.Entry, environment: String?) throws {
        let source = Settings.Source.file(entry.location, environment: environment)
        if entry.text.isEmpty, entry.variable != nil {
            self.init(text: "", source: source, value: String?.none as any Sendable)
        } else {
            try self.init(setting, entry.text, source)
        }
    }
}

extension Substring {
    fileprivate var trimmed: String { String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
}

// MARK: the deployment

extension Settings {
    /// The connection string: that of `--uri`, else the setting; `nil` if there is none.
    var uri: String? { selected.uri ?? self[Known.uri] }

    /// The database of the setting, else the one that the path of the connection string names; `nil` if neither does.
    var database: String? { self[Known.database] ?? uri.flatMap(PrismaSchema.database) }

    /// The environment variable that the configuration names for the connection string, if it is not set.
    ///
    /// If the chosen environment of `shipshape.yml` takes its connection string from such a variable, the string of
    /// the file's top level is not used. Otherwise, a command could work on a deployment that the operator did not
    /// choose.
    var unsetVariable: String? {
        guard uri == nil, case .file? = given(Known.uri)?.source else { return nil }
        return environment.flatMap { file.environments[$0]?.values["uri"] }?.variable ?? file.values["uri"]?.variable
    }
}

// MARK: protected environments

extension Settings {
    /// The protected environment that this run would write to; `nil` if there is none.
    ///
    /// This is the environment that the operator chose or, if that one is not protected, a protected environment whose
    /// connection string this run uses.
    private var protected: String? {
        if let environment, file.environments[environment]?.isProtected == true { return environment }
        guard let uri else { return nil }
        return file.environments.first { $0.value.isProtected && $0.value.values["uri"]?.text == uri }?.key
    }

    /// Asks the operator to confirm that a command writes to a protected environment.
    /// - Throws: ``UsageError`` without a terminal or for a wrong `--yes-protected`; ``ExitStatus/stopped`` after a
    ///   wrong answer.
    func confirmWriting(_ command: String) throws {
        guard let name = protected else { return }
        if let allowed = selected.protected {
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
