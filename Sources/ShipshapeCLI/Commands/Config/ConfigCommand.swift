internal import ArgumentParser
internal import Mongo
internal import Reporting

/// `shipshape config`.
struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Shows each setting and where it comes from; secrets are not shown.",
        discussion: """
            A flag beats its environment variable (--state-database and SHIPSHAPE_STATE_DATABASE), which beats \
            shipshape.yml, which beats the default. shipshape.yml is looked for in the working folder alone; its keys are \
            the flags without their hyphens. Below environments, named sections hold the same keys, which beat the file's \
            own where --env names the section; one that says protected: true is written to only once its name was typed, or \
            given with --yes-protected.

            A password comes from --password-file, SHIPSHAPE_PASSWORD or the terminal; the configuration holds none.
            """)

    @Flag(help: "Print the JSON Schema of shipshape.yml, for editors.")
    var schema = false

    @OptionGroup(title: "State") var state: StateFlags
    @OptionGroup(title: "Ledger") var ledger: LedgerFlags
    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    func run() async throws {
        guard !schema else { return try Console.result(ConfigurationSchema.text) }
        try output.prepare(reading: connection.files)
        let settings = Settings.current
        let rows = Setting.all.map { setting in
            let value = settings.value(of: setting)
            return ConfigReport.Row(
                name: setting.name, value: value.map { Self.shown($0) }, source: value.map { "\($0.source)" })
        }
        let report = ConfigReport(
            file: settings.file.path, environment: settings.environment,
            environments: settings.file.environments.map { ($0.key, $0.value.isProtected) }.sorted { $0.0 < $1.0 },
            rows: rows)
        try output.show { form, _ in
            switch form {
            case .text(let width): report.text(width: width)
            case .json: report.json
            }
        }
    }

    /// Returns the value of a setting; in a connection string, secrets are masked.
    private static func shown(_ value: Settings.Value) -> String {
        value.setting.isSecret ? ConnectionStringMask.mask(uri: value.text) : value.text
    }
}
