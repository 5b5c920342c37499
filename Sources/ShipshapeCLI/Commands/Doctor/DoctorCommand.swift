internal import ArgumentParser
internal import Reporting

struct DoctorCommand: ConnectedCommand, ExcludingCommand {
    static let configuration = CommandConfiguration(
        "doctor", "[<schema>]",
        abstract: "Examines the project, the connection, the server and the privileges, and says how to fix them.",
        examples: [
            "doctor schemas/v2 --env production",
            "doctor --prove --seconds 60",
            "doctor --settings list",
        ],
        details: """
            Each line is fine, a note, a warning or an error, and says how to fix it. SCHEMA names the collections for \
            which the privileges are examined; without one, those of all databases that the user sees. No document is \
            read, except in the ledger, and nothing is written.

            A user who may only check is fine: privileges that other commands lack are warnings. Exit code 0 means \
            that there is no error; otherwise it is that of the first error: 65 for a file, 69 for a deployment that \
            cannot be reached, 77 for a login or a privilege that check needs, 78 for a configuration, and 1 for \
            anything else.

            --prove compares this program with the connected server instead: generated documents are judged by \
            generated validators, changed by each kind of step, sorted and measured by both. The server computes them \
            without storing them, so a user who may read one collection can do it. With --write, the assumptions about \
            transactions, sessions and change streams that jobs rely on are tried, too. A case for which the two \
            differ is shown in its smallest form, and gives exit code 1. The result then says what to do.

            --settings shows each setting and its source instead; secrets are not shown. A setting comes from the \
            environment variable of its name (limit from SHIPSHAPE_LIMIT), else from shipshape.yml, else it has its \
            default. shipshape.yml is read from the working folder only. The named sections below environments have \
            the same keys, and --env names the section that overrides the rest of the file. Commands write to a \
            section with protected: true only after its name was typed, or given with --yes-protected. The list \
            thresholds, the lists renames and removed, and the mapping on are keys of the file, too.
            """)

    @Argument(help: "The schema whose collections are examined: a file, a folder, or live.")
    var schema = SchemaArgument.configured

    @Flag(help: "Warnings give exit code 1, too.")
    var strict = false

    enum SettingsForm: String, ExpressibleByArgument, CaseIterable {
        case list, schema
    }

    @Option(
        help: ArgumentHelp(
            "Show the settings instead: list (each with its source), or schema (the JSON Schema of shipshape.yml).",
            valueName: "list|schema"))
    var settings: SettingsForm?

    @Flag(help: "Compare this program's verdicts and changes with the server's own instead.")
    var prove = false

    @Flag(help: "Let --prove also try transactions and change streams, in a scratch collection of the state database.")
    var write = false

    @Option(help: "How long --prove compares; the trials of --write take longer. (default: 60)")
    var seconds: Int?

    @Option(help: "A number that selects the random cases of --prove; the result names it.")
    var seed: UInt64?

    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    static var exclusions: [Exclusion<Self>] {
        let prove = Given("--prove") { $0.prove }
        return [
            .needs(Given("--write") { $0.write }, prove, "only the comparison tries writes"),
            .needs(Given("--seconds") { $0.seconds != nil }, prove, "it is the time of the comparison"),
            .needs(Given("--seed") { $0.seed != nil }, prove, "it determines the compared cases"),
            .apart(prove, Given("--settings") { $0.settings != nil }, "each of them has its own result"),
            .apart(prove, Given("--strict") { $0.strict }, "a comparison has no warnings"),
            .apart(prove, Given("SCHEMA") { $0.schema.isGiven }, "the compared schemas are generated"),
        ]
    }

    func validate() throws {
        try checkExclusions()
        guard seconds ?? 1 > 0 else { throw ValidationError("--seconds must be at least 1") }
    }

    func work() throws -> Work {
        Work("doctor", output: output, reads: [schema.name]) { frame in
            if prove { return try await prove(in: frame) }
            switch settings {
            case .schema: return .raw(ConfigurationSchema.text)
            case .list: return .result(settingsInForce)
            case nil: break
            }
            var examination = Examination(connection)
            await examination.examineProject(schema)
            await examination.examineDeployment()
            let isWarned = strict && examination.report.worst == .warning
            return .result(
                DoctorResult(examination.report, isStrict: strict),
                examination.failure ?? (isWarned ? .findings : nil))
        }
    }

    private var settingsInForce: ConfigResult {
        let settings = Settings.current
        return ConfigResult(
            file: settings.file.path, environment: settings.environment,
            environments: settings.file.environments.map { ($0.key, $0.value.isProtected) }.sorted { $0.0 < $1.0 },
            rows: Known.all.map { row(of: $0, in: settings) })
    }

    private func row(of setting: any AnySetting, in settings: Settings) -> ConfigResult.Row {
        var (text, source) = (setting.fallbackText, setting.fallbackText.map { _ in "default" })
        if setting.name == Known.uri.name, let uri = settings.selected.uri {
            (text, source) = (uri, "--uri")
        } else if let given = settings.given(setting) {
            (text, source) = (given.text, "\(given.source)")
        }
        if setting.isSecret { text = text.map { ConnectionStringMask.mask(uri: $0) } }
        return ConfigResult.Row(name: setting.name, value: text, source: source)
    }
}
