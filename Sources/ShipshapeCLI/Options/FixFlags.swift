internal import ArgumentParser

/// The flags of `plan --fix`, which reads the documents as `check` does.
struct FixFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Plan the repair of the documents that fail this schema now, instead of a change from OLD to NEW.",
            valueName: "schema"))
    var fix: SchemaArgument?

    @Flag(help: "Also repair documents that might fail.")
    var strict = false

    @Option(help: ArgumentHelp("How many parts of a collection to read at the same time.", valueName: "count"))
    var threads = 2

    @Option(
        help: ArgumentHelp("The most documents to read per second, over all threads.", valueName: "count"))
    var rate: Int?

    @OptionGroup(title: "Repairs") var exceptions: ExceptionFlags
    @OptionGroup(title: "Repairs") var app: AppFlags

    func validate() throws {
        // `--threads` and `--mixed-collections` can come from the configuration, so they are allowed without `--fix`.
        let asked = [("--strict", strict), ("--rate", rate != nil), ("--exceptions", exceptions.exceptions != nil)]
        if fix == nil, let (flag, _) = asked.first(where: \.1) {
            throw ValidationError("\(flag) needs --fix: only a plan of repairs checks documents")
        }
        do { _ = try ScanFlags.parse(words) } catch { throw ValidationError(ScanFlags.message(for: error)) }
    }

    /// The flags of this command that affect how documents are read, written as arguments of `check`.
    var words: [String] { ["--threads", "\(threads)"] + (rate.map { ["--rate", "\($0)"] } ?? []) }
}
