internal import ArgumentParser
internal import Mongo
internal import Reporting

/// The command `shipshape config`.
struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "config",
        abstract: "Shows each setting and its source; secrets are not shown.",
        examples: [
            "config",
            "config --env production",
            "config --schema",
        ],
        details: """
            A flag overrides its environment variable (--state-database and SHIPSHAPE_STATE_DATABASE), which overrides \
            shipshape.yml, which overrides the default. shipshape.yml is read from the working folder only; its keys \
            are the flags without their first hyphens. The named sections below environments have the same keys, and \
            --env names the section that overrides the rest of the file. Commands write to a section with protected: \
            true only after its name was typed, or given with --yes-protected.

            A password comes from --password-file, SHIPSHAPE_PASSWORD or the terminal; the configuration holds none.
            """)

    @Flag(help: "Print the JSON Schema of shipshape.yml, for editors.")
    var schema = false

    @OptionGroup(title: "State") var state: StateFlags
    @OptionGroup(title: "Ledger") var ledger: LedgerFlags
    @OptionGroup(title: "Connection", visibility: .onOwnPage) var connection: ConnectionFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    func run() async throws {
        guard !schema else { return try Console.result(ConfigurationSchema.text) }
        try output.prepare(reading: connection.files)
        let settings = Settings.current
        let rows = Setting.all.map { setting in
            let value = settings.value(of: setting)
            return ConfigResult.Row(
                name: setting.name, value: value.map { Self.shown($0) }, source: value.map { "\($0.source)" })
        }
        try output.show(
            ConfigResult(
                file: settings.file.path, environment: settings.environment,
                environments: settings.file.environments.map { ($0.key, $0.value.isProtected) }.sorted { $0.0 < $1.0 },
                rows: rows))
    }

    /// Returns the value of a setting; in a connection string, secrets are masked.
    private static func shown(_ value: Settings.Value) -> String {
        value.setting.isSecret ? ConnectionStringMask.mask(uri: value.text) : value.text
    }
}
