import BSON
import Checking
import JobReports
import Running

extension BackfillReport {
    /// The outcome of the run, and what to do next if it was stopped.
    var headline: String {
        let name = "job \(job) on \(namespace)"
        switch outcome {
        case .dryRun: return "\(name): dry run, nothing was written"
        case .nothingToDo: return "\(name): nothing to do"
        case .done: return "\(name): done"
        case .stopped(let stop) where isDryRun:
            return "\(name): dry run, stopped by \(stop.text) before its end; nothing was written"
        case .stopped(let stop): return "\(name): stopped by \(stop.text); \(stop.remedy(for: job))"
        }
    }
}

extension RunEstimate {
    /// Whether a run takes less than a minute and writes less than 1% of the oplog.
    var isSmall: Bool { seconds < 60 && (oplogShare ?? 1) < 0.01 }

    /// Two lines: the time that a run would take, and the amount of data that it would write to the oplog.
    var lines: [String] {
        let share = oplogShare.map { share in
            share < 0.001 ? " (less than 0.1% of its size)" : " (\((share * 100).inTenths)% of its size)"
        }
        return [
            "a run would take about \(Self.duration(seconds)) "
                + (isBoundByConsumer
                    ? "(the time that the consumer takes for the changes)"
                    : "(if it reads as fast as now, makes \(RunEstimate.assumedWrites.grouped) writes a second and "
                        + "never waits)"),
            "a run would write about \(Self.size(oplogBytes)) to the oplog\(share ?? "")"
                + (journalBytes > 0 ? ", including \(Self.size(journalBytes)) of journal" : ""),
        ]
    }

    private static func duration(_ seconds: Double) -> String {
        switch Int(seconds.rounded(.up)) {
        case ..<100: "\(max(1, Int(seconds.rounded(.up)))) s"
        case ..<6_000: "\(Int((seconds / 60).rounded(.up))) min"
        default: "\(Int((seconds / 3_600).rounded(.up)).grouped) h"
        }
    }

    private static func size(_ bytes: Int) -> String {
        switch bytes {
        case ..<(1 << 20): "\(max(1, (bytes + 512) >> 10).grouped) KiB"
        case ..<(100 << 30): "\(((bytes + (1 << 19)) >> 20).grouped) MiB"
        default: "\((bytes >> 30).grouped) GiB"
        }
    }
}

extension Int {
    /// Returns a line such as `makes 3 documents unsyncable under the active schema`, with the headroom if it is known.
    func unsyncable(_ verb: String, _ headroom: Headroom?) -> String {
        "\(verb) \(documents) unsyncable under the active schema" + (headroom.map { " (\($0.text))" } ?? "")
    }
}

extension Headroom {
    /// The text of ``sum`` after `unsynced documents`.
    var text: String { "unsynced documents: \(sum)" }

    /// The counts and the limit, such as `292 in the ledger and 10 pending; the job stops at 90,000`.
    var sum: String {
        let entries = ledger?.words ?? "no ledger"
        return "\(entries) and \(pending.grouped) pending; the job stops at \(ceiling.grouped)"
    }
}

extension Double {
    /// The number as text, rounded to tenths, such as `1.5`.
    var inTenths: String {
        let tenths = Int((self * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}

/// The texts for a run that was stopped before its end.
extension RunStop {
    /// The reason for the stop; if it is the limit of unsynced documents, the text has the counts and the limit.
    var text: String {
        if case .threshold(let headroom) = self { "the limit of unsynced documents: \(headroom.sum)" } else { reason }
    }

    /// Returns the advice to run the job again and, if the next run would stop for the same reason, what to fix first.
    func remedy(for job: String) -> String {
        switch self {
        case .signal, .timeBudget, .arrivals: "run it again to continue"
        case .failures:
            "fix the documents, or let more be skipped with --max-errors; else the next run stops at the same place"
        case .threshold:
            "free some room first: \(Headroom.remedies(for: job)); then run it again"
        }
    }
}

extension LedgerCount {
    /// The number of entries, such as `292 in the ledger` or, if several are about the same document, `292 entries of
    /// 290 documents in the ledger`.
    var words: String {
        guard let documents, documents < entries else { return "\(entries.grouped) in the ledger" }
        return "\(entries.entries) of \(documents.documents) in the ledger"
    }
}
