internal import ArgumentParser
internal import BSON
internal import Checking
internal import ServerSchema

/// The flag `--max-failing`, which sets how many documents may fail without making a check fail.
struct FailingFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How many documents may fail without exit code 1: a number, or a share of those read, such as 0.1%.",
            discussion: "The list thresholds in shipshape.yml has limits for single collections and rules.",
            valueName: "count|percent"), transform: Self.limit(parsing:))
    var maxFailing: FailingLimit?

    /// Whether the flag is on the command line.
    ///
    /// `false` if its value comes from an environment variable or from the configuration file.
    var isGiven: Bool { !Console.flag(["--max-failing"]).isEmpty }

    /// Returns a copy of `policy` with the limits for failing documents: the limit that the flag states, and the
    /// thresholds in `shipshape.yml`.
    func added(to policy: FailurePolicy) -> FailurePolicy {
        var policy = policy
        policy.maximum = maxFailing
        policy.thresholds = Settings.current.file.thresholds
        return policy
    }

    /// Returns a note for each threshold in `shipshape.yml` whose collection the report does not cover.
    /// - Parameter isPart: whether the operator chose some of the collections. If so, only thresholds whose collection
    ///   is probably misspelt get a note.
    func notes(for report: CheckReport, isPart: Bool) -> [String] {
        let names = report.collections.map(\.namespace)
        return Settings.current.file.thresholds.filter { !names.contains($0.namespace) }.compactMap { threshold in
            let hint = Spelling.hint(for: "\(threshold.namespace)", among: names.map(\.description))
            if isPart, hint == nil { return nil }
            return "\(threshold.location): the schema does not cover \(threshold.namespace)"
                + (hint.map { " (\($0))" } ?? "")
        }
    }

    private static func limit(parsing text: String) throws -> FailingLimit {
        guard let limit = FailingLimit(text) else {
            throw ValidationError("it is neither a number of documents nor a share such as 0.1%")
        }
        return limit
    }
}
