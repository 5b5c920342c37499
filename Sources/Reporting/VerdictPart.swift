import BSON
import Checking
import SchemaChange
import ServerSchema

/// One of the three parts of a check's verdict in words.
struct VerdictPart {
    /// `documents`, `limit` or `change`.
    var name: String
    var severity: DeployVerdict.Severity
    /// What it comes to, as a headline says it.
    var sentence: String
    /// What it comes to beside the other parts, where that is not the sentence.
    var sum: String?
    /// What else is to be known, a sentence each.
    var reasons: [String] = []
}

extension CheckReport {
    /// The verdict's parts, in the order in which they are shown.
    func parts(ids: IDDisplay) -> [VerdictPart] { [documentsPart, limitPart, changePart(ids)] }

    /// What decides: of what does harm that first which concerns most.
    func headline(ids: IDDisplay) -> (text: String, level: Report.Level) {
        let (documents, limit, change) = (documentsPart, limitPart, changePart(ids))
        if isSafe {
            let sentence = documents.sentence.prefix(1).lowercased() + documents.sentence.dropFirst()
            return ("Safe to deploy: \(sentence)", .good)
        }
        if limit.severity == .harmful { return (limit.sentence, .error) }
        if change.severity == .harmful { return (change.sentence, .error) }
        if verdict.band == .atRisk { return (limit.sentence, .error) }
        return (documents.sentence, documents.severity == .safe ? .notice : .warning)
    }

    /// The verdict's name for machines.
    ///
    /// Where a schema is removed, documents stop though none fails; under a validator none stops.
    var bandName: String {
        switch verdict.band {
        case .safe where !lost.isEmpty: DeployVerdict.Band.documentsWillStop.rawValue
        case .safe where failingInLedger > 0, .unproven where failingInLedger > 0: "documents_do_not_sync"
        case .safe where changeSeverity == .harmful, .unproven where changeSeverity == .harmful: "change_is_breaking"
        case .documentsWillStop where dialect == .jsonSchema: "documents_do_not_fit"
        default: verdict.band.rawValue
        }
    }
}
