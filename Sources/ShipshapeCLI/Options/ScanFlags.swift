internal import ArgumentParser
internal import BSON
internal import Checking
internal import Scanning

/// The flags for reading documents: which of them, from where, and how fast.
struct ScanFlags: ParsableArguments {
    @Option(help: ArgumentHelp("How many parts of a collection are read at once.", valueName: "count"))
    var threads = 2

    @Option(
        help: ArgumentHelp(
            "Read at most so many documents per second, all threads together, to spare a busy server.",
            valueName: "count"))
    var rate: Int?

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "Read only the documents that match a filter, in extended JSON; the others are not judged.",
            valueName: "filter"),
        transform: Self.filter(parsing:))
    var filter: BSONDocument?

    @Option(
        help: ArgumentHelp(
            "Read only so many documents of each collection, at random: a quick look, which proves nothing.",
            valueName: "count"))
    var sample: Int?

    @Option(
        help: ArgumentHelp(
            "Read only one of several parts of each collection, such as 3/8; merge joins the reports of all.",
            discussion: "The first run says where each collection is cut, by _id, and the state database holds it.",
            valueName: "number/parts"),
        transform: Self.part(parsing:))
    var part: CheckPart?

    @Flag(help: "Also count the documents one by one, beside the count that the server's metadata holds.")
    var count = false

    @Flag(
        help: ArgumentHelp(
            "Let the server hold back documents that a filter proves good, for slow links and sharded clusters.",
            discussion: "The findings are the same: what the filter cannot prove is read."))
    var prefilter = false

    @Option(
        help: ArgumentHelp(
            "Where the documents of a database or a collection of the schema are, if not under that name (repeatable).",
            discussion: "The ledger is still looked up by the schema's names.", valueName: "prod=copy"))
    var map: [NamespaceMapping] = []

    func validate() throws {
        guard threads >= 1, threads <= 64 else { throw ValidationError("--threads must be from 1 to 64") }
        if let rate, rate < 1 { throw ValidationError("--rate must be at least 1") }
        if let sample, sample < 1 { throw ValidationError("--sample must be at least 1") }
        if part != nil, filter != nil || sample != nil {
            throw ValidationError("--part does not go with --where or --sample: merge joins what is whole together")
        }
        if sample != nil, prefilter {
            throw ValidationError("--prefilter does not go with --sample: what is held back would not be in the sample")
        }
    }

    /// Refuses the flags that only a server can serve.
    func requireNothingLive() throws {
        let asked = [
            ("--where", filter != nil), ("--sample", sample != nil), ("--part", part != nil), ("--count", count),
            ("--prefilter", prefilter),
            ("--rate", rate != nil),
        ]
        if let (flag, _) = asked.first(where: \.1) {
            throw UsageError("\(flag) needs a live deployment: of --source every document is read")
        }
    }

    /// Reads the value of --part.
    static func part(parsing text: String) throws -> CheckPart {
        guard let part = CheckPart(text) else {
            throw ValidationError("it is not NUMBER/PARTS, such as 3/8, of at most \(CheckPart.maximumCount) parts")
        }
        return part
    }

    /// Reads the value of --where.
    static func filter(parsing text: String) throws -> BSONDocument {
        do throws(BSONError) {
            return try BSONDocument(extendedJSON: text)
        } catch {
            throw ValidationError(
                "it is not one object of extended JSON, such as {\"age\": {\"$gte\": 18}}: \(error)")
        }
    }
}
