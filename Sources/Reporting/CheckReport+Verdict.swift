import BSON
import Checking
import SchemaChange
import ServerSchema

extension DeployVerdict.Severity {
    /// The severity in one word, for people; JSON reports have the raw value instead.
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
    /// Returns the verdict's parts that apply, in the order in which they are shown.
    ///
    /// Only Device Sync has a limit, and without a schema there is no change.
    func parts(ids: IDDisplay) -> [Report.Part] {
        [documentsPart] + (isOfDeviceSync ? [limitPart] : []) + (isChangeJudged ? [changePart(ids)] : [])
    }

    /// Returns the headline and its level.
    ///
    /// If several parts are unsafe, the headline is that of the part with the widest effect: documents that halt an
    /// engine for all users, then the limit, the change, and the other documents.
    func headline(ids: IDDisplay) -> (text: String, level: Report.Level) {
        let (documents, limit, change) = (documentsPart, limitPart, changePart(ids))
        if isSafe {
            let sentence = documents.sentence.prefix(1).lowercased() + documents.sentence.dropFirst()
            return ("\(isChangeJudged ? "Safe to deploy" : "Safe"): \(sentence)", .good)
        }
        if haltingCount > 0 { return (documents.sentence, .error) }
        if limitSeverity == .unsafe { return (limit.sentence, .error) }
        if changeSeverity == .unsafe { return (change.sentence, .error) }
        if verdict.band == .syncMightStop { return (limit.sentence, .error) }
        return (documents.sentence, documentsSeverity == .safe ? .notice : .warning)
    }

    /// The name of the verdict, for programs that read the report.
    ///
    /// If a collection loses its schema, the name says that documents stop syncing, although none of them fails.
    /// Without sync, the name says that documents do not fit, because they cannot stop syncing.
    var bandName: String {
        switch verdict.band {
        case .safe where !lost.isEmpty: DeployVerdict.Band.documentsWillStop.rawValue
        case .safe where failingInLedger > 0, .unproven where failingInLedger > 0: "documents_do_not_sync"
        case .safe where changeSeverity == .unsafe, .unproven where changeSeverity == .unsafe: "change_is_breaking"
        case .safe where haltingCount > 0, .unproven where haltingCount > 0: "documents_halt_engine"
        case .documentsWillStop where engine != nil && !isOfDeviceSync: engineBandName
        case .documentsWillStop where !dialect.isOfSync: "documents_do_not_fit"
        default: verdict.band.rawValue
        }
    }

    /// The name of the verdict by the worst outcome that documents have in the engine.
    private var engineBandName: String {
        let counts = total.engine ?? EngineCounts()
        if counts.halting > 0 { return "documents_halt_engine" }
        if counts.dropped > 0 { return "documents_never_arrive" }
        return counts.values > 0 ? "values_are_lost" : "documents_do_not_fit"
    }
}
