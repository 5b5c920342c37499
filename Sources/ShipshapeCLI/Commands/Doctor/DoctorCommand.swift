internal import ArgumentParser
internal import Reporting

/// `shipshape doctor [SCHEMA]`.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "doctor", "[<schema>]",
        abstract: "Examines the project, the connection, the server and the privileges, and says how to fix them.",
        examples: [
            "doctor",
            "doctor schemas/v2 --env production",
            "doctor --uri mongodb://db1/ -o json",
        ],
        details: """
            Each line is fine, a note, a warning or an error, and says how to fix it. SCHEMA names the collections for \
            which the privileges are examined; without one, those of all databases that the user sees. No document is \
            read, except in the ledger, and nothing is written.

            A user who may only check is fine: privileges that other commands lack are warnings. Exit code 0 means \
            that there is no error; otherwise it is that of the first error: 65 for a file, 69 for a deployment that \
            cannot be reached, 77 for a login or a privilege that check needs, 78 for a configuration, and 1 for \
            anything else.
            """)

    @Argument(help: "The schema whose collections are examined: a file, a folder, or live.")
    var schema = SchemaArgument.configured

    @Flag(help: "Warnings give exit code 1, too.")
    var strict = false

    @OptionGroup(title: "Prisma") var database: DatabaseFlags
    @OptionGroup(title: "Ledger") var ledger: LedgerFlags
    @OptionGroup(title: "State") var state: StateFlags
    @OptionGroup(title: "Connection", visibility: .onOwnPage) var connection: ConnectionFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    func run() async throws {
        try output.prepare(reading: [schema.name] + connection.files)
        var examination = Examination(connection, database, state: state, ledger: ledger)
        await examination.examineProject(schema)
        await examination.examineDeployment()
        try output.show(DoctorResult(examination.report, isStrict: strict))
        if let failure = examination.failure { throw failure }
        if strict, examination.report.worst == .warning { throw ExitStatus.findings }
    }
}
