internal import ArgumentParser
internal import Checking
internal import Reporting

/// The command `shipshape merge REPORT…`.
struct MergeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "merge", "<reports> ...",
        abstract: "Joins the reports of all parts of a check into one report.",
        examples: [
            "merge part1.json part2.json part3.json",
            "merge part1.json part2.json --report check.html",
        ],
        details: """
            REPORTS are the files that check --part NUMBER/PARTS --report FILE.json wrote: all parts of one check, in \
            any order. The verdict, the report and the exit code are those of an undivided check, but each part is \
            consistent as of a time of its own. Exit code 65 means that a part is missing or given twice, or that the \
            reports are of different schemas, flags or deployments. merge connects to no deployment.
            """, connects: false)

    @Argument(help: "The reports of the parts, as JSON.", completion: .file())
    var reports: [String]

    @Flag(help: "Show a mongosh filter for each group of documents; files of --report always contain them.")
    var filters = false

    @OptionGroup var failing: FailingFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    func run() async throws {
        try output.prepare(reading: reports)
        let parts = try reports.map { (name: $0, report: try CheckReportReader.read($0)) }
        var report = try CheckReport(merging: parts)
        let policy = failing.added(to: parts.first?.report.part?.policy ?? FailurePolicy())
        if policy.hasLimits { report.limits = policy.uses(in: report) }
        try output.show(CheckResult(report, policy: policy, showsFilters: filters))
        if policy.fails(report) { throw ExitStatus.findings }
    }
}
