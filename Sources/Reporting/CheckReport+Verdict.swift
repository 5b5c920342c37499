import BSON
import Checking
import SchemaChange
import ServerSchema

extension DeployVerdict.Severity {
    /// The severity in a word for people; a report as JSON has the raw value.
    var word: String {
        switch self {
        case .safe: "safe"
        case .unknown: "unknown"
        case .unsafe: "unsafe"
        }
    }

    fileprivate var level: Report.Level {
        switch self {
        case .safe: .good
        case .unknown: .warning
        case .unsafe: .error
        }
    }
}

extension Report.Part {
    /// Creates a part of a check's verdict.
    init(
        name: String, severity: DeployVerdict.Severity, sentence: String, figures: String? = nil,
        reasons: [String] = []
    ) {
        self.init(
            name: name, level: severity.level, word: severity.word, sentence: sentence, figures: figures,
            reasons: reasons)
    }
}

extension CheckReport {
    /// Returns the verdict's parts, in the order in which they are shown.
    func parts(ids: IDDisplay) -> [Report.Part] {
        [documentsPart] + (dialect.mentionsLimit ? [limitPart] : []) + [changePart(ids)]
    }

    /// Returns the headline and its level.
    ///
    /// If several parts are unsafe, the headline is that of the part with the widest effect: the limit, then the
    /// change, then the documents.
    func headline(ids: IDDisplay) -> (text: String, level: Report.Level) {
        let (documents, limit, change) = (documentsPart, limitPart, changePart(ids))
        if isSafe {
            let sentence = documents.sentence.prefix(1).lowercased() + documents.sentence.dropFirst()
            return ("Safe to deploy: \(sentence)", .good)
        }
        if limitSeverity == .unsafe { return (limit.sentence, .error) }
        if changeSeverity == .unsafe { return (change.sentence, .error) }
        if verdict.band == .syncMightStop { return (limit.sentence, .error) }
        return (documents.sentence, documentsSeverity == .safe ? .notice : .warning)
    }

    /// The name of the verdict, for programs that read the report.
    ///
    /// If a schema is removed, documents stop syncing although none of them fails. Only under sync can a document stop
    /// syncing.
    var bandName: String {
        switch verdict.band {
        case .safe where !lost.isEmpty: DeployVerdict.Band.documentsWillStop.rawValue
        case .safe where failingInLedger > 0, .unproven where failingInLedger > 0: "documents_do_not_sync"
        case .safe where changeSeverity == .unsafe, .unproven where changeSeverity == .unsafe: "change_is_breaking"
        case .documentsWillStop where !dialect.isOfSync: "documents_do_not_fit"
        default: verdict.band.rawValue
        }
    }
}
