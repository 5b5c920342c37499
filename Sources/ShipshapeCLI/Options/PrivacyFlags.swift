internal import ArgumentParser
internal import Foundation
internal import Reporting

/// The option that lets a result show data of documents.
struct PrivacyFlags: ParsableArguments {
    @Flag(help: "Show the documents' values with the findings, cut to 80 characters; by default no value is shown.")
    var showValues = false
}

/// The setting `ids`: how all results of a run show `_id`s.
enum IDForm: String, CaseIterable {
    case show, hash, none

    /// How all results of this run show `_id`s.
    ///
    /// A hash is the beginning of the _id's HMAC-SHA-256 with the key in `SHIPSHAPE_ID_KEY`. Without that variable, the
    /// key is random, so the hashes of two runs cannot be compared.
    static var display: IDDisplay {
        switch Settings.current[Known.ids] {
        case .show: return .shown
        case .none: return .hidden
        case .hash:
            let given = ProcessInfo.processInfo.environment["SHIPSHAPE_ID_KEY"].flatMap { $0.isEmpty ? nil : $0 }
            return .hashed(IDHash(key: given.map { Array($0.utf8) } ?? (0..<32).map { _ in .random(in: 0...255) }))
        }
    }
}
