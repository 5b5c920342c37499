import BSON
import Checking
import SchemaChange
import ServerSchema

/// The part of the verdict that judges the schema change.
extension CheckReport {
    func changePart(_ ids: IDDisplay) -> Report.Part {
        if let statedChange {
            return Report.Part(
                name: "change", severity: changeSeverity, sentence: statedChange["sentence"]?.text ?? "",
                reasons: statedChange["reasons"]?.document?.values.compactMap(\.text) ?? [])
        }
        guard let change else {
            return Report.Part(
                name: "change", severity: changeSeverity,
                sentence: "The change was not judged; give the live schema with --active.")
        }
        let sentence = dialect == .prisma ? change.olderClientsSentence : change.headline
        var part = Report.Part(name: "change", severity: changeSeverity, sentence: sentence)
        if !change.changes.isEmpty { part.reasons.append(sides(change)) }
        part.reasons += breaking(change) + served(change) + backlinks.flatMap { $0.sentences(ids: ids) }
        let ofSchema = change.changes.contains { $0.kind.verdict == .breaking && $0.partner == nil }
        if dialect == .appServices, ofSchema { part.reasons += deployment }
        if changeSeverity != .unsafe, !change.consequences.isEmpty {
            let words = change.consequences.map(\.words).joined(separator: "; ")
            part.reasons.append(words.prefix(1).uppercased() + words.dropFirst())
        }
        if let state { part.reasons.append(state) }
        return part
    }

    private func sides(_ change: DiffReport) -> String {
        let (server, client) = change.dialect.sides
        return "\(server.prefix(1).uppercased())\(server.dropFirst()): \(change.worst(\.server).word); "
            + "\(client)s: \(change.worst(\.client).word)"
    }

    /// Returns a line for each of the first five breaking changes and, if there are more, the command that lists all of
    /// them.
    private func breaking(_ change: DiffReport) -> [String] {
        let all = change.changes.filter { (dialect == .prisma ? $0.client : $0.kind.verdict) == .breaking }
        let shown = all.prefix(5).map { change in
            (change.namespace.map { "\($0): " } ?? "") + "\(change.description) (\(change.code))"
                + (change.partner == nil ? "" : ". \(change.kind.advice)")
        }
        let more = all.count - shown.count
        let rest = "and \(more.grouped) more: shipshape diff \(change.old.shellWord) \(change.new.shellWord)"
        return shown + (more > 0 ? [rest] : [])
    }

    /// Returns a clause for each partner that serves changes, with the number of those changes.
    private func served(_ change: DiffReport) -> [String] {
        let served = Dictionary(grouping: change.changes.filter { $0.kind.verdict == .served }, by: \.kind.advice)
        return served.sorted { $0.key < $1.key }.map { advice, changes in
            "\(changes.count.counted("change")) served: \(advice.hasSuffix(".") ? String(advice.dropLast()) : advice)"
        }
    }

    /// The note that a breaking change can be deployed only in the App Services UI, and a warning if development mode
    /// is on.
    ///
    /// Source: `semantics.md` section 6, note 1.
    private var deployment: [String] {
        ["Deploy a breaking change in the App Services UI: its CLI, its API and GitHub refuse it"]
            + (sync.isInDevelopment
                ? [
                    "Development mode is on: in apps created since 2023-09-13, clients can make breaking changes"
                ] : [])
    }

    /// A sentence on the effect of paused or terminated sync on the deploy; `nil` if sync is enabled or its state is
    /// unknown.
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

extension DiffReport {
    /// Returns the worst verdict for one side, the server or the clients; `nonBreaking` if nothing changed.
    func worst(_ side: KeyPath<SchemaChange, SchemaChange.Verdict>) -> SchemaChange.Verdict {
        changes.map { $0[keyPath: side] }.max() ?? .nonBreaking
    }
}
