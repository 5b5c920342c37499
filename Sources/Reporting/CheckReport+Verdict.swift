import BSON
import Checking
import SchemaChange
import ServerSchema

extension DeployVerdict.Severity {
    /// The severity for people, in one word and with its level; JSON reports have the raw value instead.
    fileprivate var shown: (word: String, level: Report.Level) {
        switch self {
        case .safe: ("safe", .good)
        case .unknown: ("unknown", .warning)
        case .unsafe: ("unsafe", .error)
        }
    }
}

extension Report.Part {
    init(
        name: String, severity: DeployVerdict.Severity, sentence: String, figures: String? = nil,
        reasons: [String] = []
    ) {
        self.init(
            name: name, level: severity.shown.level, word: severity.shown.word, sentence: sentence, figures: figures,
            reasons: reasons)
    }
}

extension CheckReport {
    /// Returns the verdict's parts that apply, in the order in which they are shown.
    func parts(ids: IDDisplay) -> [Report.Part] {
        [documentsPart] + (isOfDeviceSync ? [limitPart] : []) + (isChangeJudged ? [changePart(ids)] : [])
    }

    /// Returns the headline and its level.
    ///
    /// If verdicts are wrong, the headline says only that. If several parts are unsafe, the headline is about the part
    /// with the widest effect. Documents that halt an engine for all users come first. The limit of unsynced documents,
    /// the schema change and the other documents follow in this order.
    func headline(ids: IDDisplay) -> (text: String, level: Report.Level) {
        if wrongCount > 0 {
            let sentence = "This result is wrong: the server judges \(wrongCount.documents) differently."
            return ("\(sentence) Please report this bug.", .error)
        }
        let (documents, limit, change) = (documentsPart, limitPart, changePart(ids))
        if isSafe {
            let sentence = documents.sentence.prefix(1).lowercased() + documents.sentence.dropFirst()
            return ("\(isChangeJudged ? "Safe to deploy" : "Safe"): \(sentence)", .good)
        }
        if haltingCount > 0 { return (documents.sentence, .error) }
        if limitSeverity == .unsafe { return (limit.sentence, .error) }
        if changeSeverity == .unsafe { return (change.sentence, .error) }
        if !openMoves.isEmpty, documentsSeverity == .safe { return (change.sentence, .warning) }
        if verdict.band == .syncMightStop { return (limit.sentence, .error) }
        return (documents.sentence, documentsSeverity == .safe ? .notice : documents.level)
    }

    /// The name of the verdict, such as `documents_do_not_sync`, for programs that read the report.
    ///
    /// If a collection loses its schema, the name says that documents will stop syncing, although none of them fails
    /// the check.
    var bandName: String {
        switch verdict.band {
        case .safe where !lost.isEmpty: DeployVerdict.Band.documentsWillStop.rawValue
        case .safe where failingInLedger > 0, .unproven where failingInLedger > 0: "documents_do_not_sync"
        case .safe where changeSeverity == .unsafe, .unproven where changeSeverity == .unsafe: "change_is_breaking"
        case .safe where haltingCount > 0, .unproven where haltingCount > 0: "documents_halt_engine"
        case .documentsWillStop where rules.engine != nil && !isOfDeviceSync: engineBandName
        case .documentsWillStop where !rules.dialect.isOfSync: "documents_do_not_fit"
        default: verdict.band.rawValue
        }
    }

    /// The name for an engine other than Device Sync, by the worst outcome of the documents in the engine.
    private var engineBandName: String {
        let counts = total.engine ?? EngineCounts()
        if counts.halting > 0 { return "documents_halt_engine" }
        if counts.dropped > 0 { return "documents_never_arrive" }
        return counts.values > 0 ? "values_are_lost" : "documents_do_not_fit"
    }
}

extension CheckReport {
    func changePart(_ ids: IDDisplay) -> Report.Part {
        if let statedChange = active?.statedChange {
            return Report.Part(
                name: "change", severity: changeSeverity, sentence: statedChange["sentence"]?.text ?? "",
                reasons: statedChange["reasons"]?.document?.values.compactMap(\.text) ?? [])
        }
        guard let change = active?.change else {
            var part = Report.Part(
                name: "change", severity: changeSeverity,
                sentence: "To compare with the schema in use, add --active.")
            part.level = .notice
            return part
        }
        let isOpen =
            !openMoves.isEmpty && (change.clientVerdict ?? .nonBreaking) < .breaking && verdict.band != .syncHasStopped
        let sentence =
            isOpen
            ? ValueMove.headline(of: openMoves)
            : rules.dialect == .prisma && !change.isOfClient ? change.olderClientsSentence : change.headline
        var part = Report.Part(name: "change", severity: changeSeverity, sentence: sentence)
        if !change.changes.isEmpty { part.reasons.append(sides(change)) }
        part.reasons += breaking(change) + served(change) + (active?.backlinks ?? []).flatMap { $0.sentences(ids: ids) }
        let ofSchema = change.changes.contains { $0.kind.verdict == .breaking && $0.partner == nil }
        if rules.dialect == .appServices, ofSchema { part.reasons += deployment }
        if changeSeverity != .unsafe, !change.consequences.isEmpty {
            let words = change.consequences.map(\.words).joined(separator: "; ")
            part.reasons.append(words.prefix(1).uppercased() + words.dropFirst())
        }
        if let state { part.reasons.append(state) }
        part.reasons += openMoves.flatMap(\.sentences)
        return part
    }

    private func sides(_ change: DiffReport) -> String {
        let (server, client) = change.dialect.sides
        return "\(server.prefix(1).uppercased())\(server.dropFirst()): \(change.worst(\.server).word); "
            + "\(client)s: \(change.worst(\.client).word)"
    }

    /// Returns a line for each of the first five breaking changes and, if there are more, the command that lists all of
    /// them.
    ///
    /// In Prisma, a change counts as breaking if it is breaking for older clients; if the active schema is a validator,
    /// if the client fails on what it accepts.
    private func breaking(_ change: DiffReport) -> [String] {
        let isOfOlder = rules.dialect == .prisma && !change.isOfClient
        let all = change.changes.filter { (isOfOlder ? $0.client : $0.kind.verdict) == .breaking }
        let shown = all.prefix(5).map { breaking in
            (breaking.namespace.map { "\($0): " } ?? "") + "\(breaking.description) (\(breaking.code))"
                + (breaking.partner == nil ? "" : ". \(breaking.kind.advice)")
                + (change.acceptanceWords(of: breaking).map { ". \($0)" } ?? "")
        }
        let more = all.count - shown.count
        let rest = "and \(more.grouped) more: shipshape diff \(change.old.shellWord) \(change.new.shellWord)"
        return shown + (more > 0 ? [rest] : [])
    }

    /// Returns a clause for each partner collection, with the number of schema changes that are made there instead.
    private func served(_ change: DiffReport) -> [String] {
        let served = Dictionary(grouping: change.changes.filter { $0.kind.verdict == .served }, by: \.kind.advice)
        return served.sorted { $0.key < $1.key }.map { advice, changes in
            "\(changes.count.counted("change")) served: \(advice.hasSuffix(".") ? String(advice.dropLast()) : advice)"
        }
    }

    /// The note that only the App Services UI deploys a breaking change, and a warning in development mode
    /// (`semantics.md` section 6, note 1).
    private var deployment: [String] {
        let mode = "Development mode is on: in apps created since 2023-09-13, clients can make breaking changes"
        return ["Deploy a breaking change in the App Services UI: its CLI, its API and GitHub refuse it"]
            + (sync.isInDevelopment ? [mode] : [])
    }

    /// A sentence on paused or terminated sync, and on what it means for the change of the schema; `nil` if sync is
    /// enabled or its state is unknown.
    private var state: String? {
        switch sync.state {
        case .enabled, nil: return nil
        case .paused:
            let since = sync.pausedAt.map { " since \(ServerTime(milliseconds: Int64($0) * 1_000))" } ?? ""
            return
                "Sync is paused\(since): clients receive no changes until it is resumed. The oplog must cover the pause"
        case .terminated:
            return
                "Sync is terminated: no client syncs. Every client resets once it is enabled again, whatever changes"
        }
    }
}

extension ValueMove {
    /// A sentence on the fields of which values may be lost.
    static func headline(of moves: [ValueMove]) -> String {
        let documents = moves.compactMap(\.documents).max() ?? 0
        let names = Set(moves.map { "\($0.old)" }).sorted().joined(separator: ", ")
        guard moves.contains(where: { $0.isStated && $0.documents != nil }) else {
            let place = documents > 0 ? " in \(documents.documents)" : ""
            return "It is unknown whether new clients still see the values of \(names)\(place): it may be a rename."
        }
        return "New clients do not see the values of \(names) in \(documents.documents): copy them first."
    }

    /// The number of documents with such values, and the way to settle whether the field is renamed.
    fileprivate var sentences: [String] {
        let count = documents.map { "\($0.documents) \($0 == 1 ? "holds" : "hold")" } ?? "Documents may hold"
        let start = "\(namespace): \(count) \(old) and not \(new)"
        guard !isStated else { return ["\(start), its new name: copy the values before the deploy (shipshape plan)"] }
        return ["\(start). In shipshape.yml, \(lines[0]) says that it is renamed, \(lines[1]) that it goes"]
    }
}

extension DiffReport {
    /// Returns the worst verdict for one side, the server or the clients; `nonBreaking` if nothing changed.
    func worst(_ side: KeyPath<SchemaChange, SchemaChange.Verdict>) -> SchemaChange.Verdict {
        changes.map { $0[keyPath: side] }.max() ?? .nonBreaking
    }
}

extension CheckReport {
    /// A table of the documents that newly fail, already fail or are fixed; `nil` without an active schema.
    ///
    /// Each collection that has such documents has a row. Several such collections also have a row with the total.
    var changesTable: Report.Table? {
        guard let total = total.changes, let active else { return nil }
        let compared = collections.compactMap { collection in
            collection.counts.changes.map { (name: "\(collection.namespace)", changes: $0) }
        }.filter { $0.changes != VerdictChanges() }
        let hasPossible = total.newlyPossible + total.alreadyPossible + total.possiblyHealed > 0
        let certain = ["newly failing", "already failing", "fixed"]
        let possible = hasPossible ? ["possibly: newly", "already", "fixed"] : []
        return Report.Table(
            title: "Compared with \(active.name)",
            columns: [""] + (certain + possible).map(Report.Column.number),
            rows: (compared.count == 1 ? compared : compared + [("total", total)]).map { name, changes in
                let certain = [changes.newlyFailing, changes.alreadyFailing, changes.healed]
                let possible =
                    hasPossible ? [changes.newlyPossible, changes.alreadyPossible, changes.possiblyHealed] : []
                return [Report.Cell(name)] + (certain + possible).map { Report.Cell($0.grouped) }
            })
    }
}
