internal import ArgumentParser
internal import Checking
internal import Reporting

/// `shipshape merge REPORT…`.
struct MergeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Joins the reports of all parts of a check into the report of the whole.",
        discussion: """
            REPORT is what check --part NUMBER/PARTS --report FILE.json wrote: give all parts of one check, in any order. \
            Verdict, report and exit code are those of a check that was not divided, save that each part is consistent as of \
            a time of its own. Reports of other schemas, flags or deployments, a part that is missing and one that is given \
            twice end with 65. No deployment is asked.
            """)

    @Argument(help: "The reports of the parts, as JSON.", completion: .file())
    var reports: [String]

    @Flag(help: "Show the filter of each group, for mongosh; report files always have it.")
    var filters = false

    @OptionGroup(title: "Output") var output: ResultFlags

    func run() async throws {
        try output.prepare(reading: reports)
        let parts = try reports.map { (name: $0, report: try CheckReportReader.read($0)) }
        let report = try CheckReport(merging: parts)
        let policy = parts.first?.report.part?.policy ?? FailurePolicy()
        try output.show(CheckResult(report, policy: policy, showsFilters: filters))
        if policy.fails(report) { throw ExitStatus.findings }
    }
}
