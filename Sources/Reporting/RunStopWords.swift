import Running

/// The words for a stop.
extension RunStop {
    /// The reason, with its numbers as people read them.
    var text: String {
        if case .threshold(let headroom) = self { "the limit of unsynced documents: \(headroom.text)" } else { reason }
    }

    /// The advice for the operator: to run again, or what helps where another run does not.
    func remedy(for job: String) -> String {
        switch self {
        case .signal, .timeBudget, .arrivals: "run it again to go on"
        case .failures:
            "mend the documents, or let more be skipped with --max-errors: run again as it is, it stops at the same place"
        case .threshold:
            "to run it again does not help before there is room; \(Headroom.remedies(for: job)); then run it again to go on"
        }
    }
}

extension RunStop? {
    /// Why it stopped; null where it did not.
    var json: ReportValue { map { .string($0.reason) } ?? .null }
}
