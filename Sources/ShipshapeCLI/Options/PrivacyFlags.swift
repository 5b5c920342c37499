internal import ArgumentParser
internal import Foundation
internal import Reporting

/// The flags that decide which data of documents a result may show.
struct PrivacyFlags: ParsableArguments {
    /// How `_id`s are shown: as they are, as a hash, or not at all.
    enum IDs: String, ExpressibleByArgument, CaseIterable {
        case show, hash, none
    }

    @Option(
        help: ArgumentHelp(
            "How to show _ids in all results: show, hash or none.",
            discussion: """
                A hash is the beginning of the _id's HMAC-SHA-256 with the key in SHIPSHAPE_ID_KEY. Without that \
                variable the key is random, so the hashes of two runs cannot be compared.
                """,
            valueName: "show|hash|none"))
    var ids = IDs.show

    @Flag(help: "Show the documents' values with the findings, cut to 80 characters; by default no value is shown.")
    var showValues = false

    /// How all results of this run show `_id`s.
    var display: IDDisplay {
        switch ids {
        case .show: return .shown
        case .none: return .hidden
        case .hash:
            let given = ProcessInfo.processInfo.environment["SHIPSHAPE_ID_KEY"].flatMap { $0.isEmpty ? nil : $0 }
            return .hashed(IDHash(key: given.map { Array($0.utf8) } ?? (0..<32).map { _ in .random(in: 0...255) }))
        }
    }
}
