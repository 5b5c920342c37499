internal import ArgumentParser
internal import BSON
internal import Check
internal import Checking

/// The options for reading documents: which documents, and from which collections.
struct ScanFlags: ParsableArguments {
    @OptionGroup var reading: ReadingFlags

    @Option(
        help: ArgumentHelp(
            "Read only one part of each collection, such as 3/8; --join joins the reports of all parts.",
            discussion: "The first run decides by _id where each part begins, and stores that in the state database.",
            valueName: "number/parts"),
        transform: Self.part(parsing:))
    var part: CheckPart?

    @Option(
        help: ArgumentHelp(
            "Read a database or a collection of the schema under another name (repeatable).",
            discussion: "Ledger entries are still looked up by the schema's names.", valueName: "prod=copy"))
    var map: [NamespaceMapping] = []

    var options: ScanSelection {
        var selection = ScanSelection(Settings.current)
        (selection.filter, selection.sample, selection.part, selection.map) = (
            reading.filter, reading.sample, part, map
        )
        return selection
    }

    static func part(parsing text: String) throws -> CheckPart {
        guard let part = CheckPart(text) else {
            throw ValidationError("it is not NUMBER/PARTS, such as 3/8, of at most \(CheckPart.maximumCount) parts")
        }
        return part
    }
}

extension ScanSelection {
    /// Creates the selection of all documents, read as the settings say.
    init(_ settings: Settings) {
        self.init()
        threads = settings[Known.threads]
        rate = settings[Known.rate]
        prefilter = settings[Known.prefilter]
    }
}

/// The options that select the documents to read.
struct ReadingFlags: ParsableArguments {
    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "Read only the documents that match a filter, in extended JSON.", valueName: "filter"),
        transform: Self.filter(parsing:))
    var filter: BSONDocument?

    @Option(
        help: ArgumentHelp(
            "Read only this many random documents of each collection; quick, but proves nothing.",
            valueName: "count"))
    var sample: Int?

    func validate() throws {
        if let sample, sample < 1 { throw ValidationError("--sample must be at least 1") }
    }

    /// Reads the value of `--where`.
    static func filter(parsing text: String) throws -> BSONDocument {
        do throws(BSONError) {
            return try BSONDocument(extendedJSON: text)
        } catch {
            throw ValidationError(
                "it is not one object of extended JSON, such as {\"age\": {\"$gte\": 18}}: \(error)")
        }
    }
}

extension NamespaceMapping: ExpressibleByArgument {}
