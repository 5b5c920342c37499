import BSON
import Checking

/// The words of a verdict for a sync engine other than Device Sync: which documents halt it, and what does not arrive.
extension CheckReport {
    /// The sentence on the documents; `nil` for Device Sync, and without an engine.
    var engineSentence: String? {
        guard let engine, engine != .deviceSync else { return nil }
        var clauses = total.clauses(on: engine, hasSchema: hasSchema)
        if verdict.possiblyStopping > 0 {
            clauses.append("\(verdict.possiblyStopping.documents) might not arrive unchanged")
        }
        guard !clauses.isEmpty else { return verdict.isPartial ? nothingFound(engine) : everythingArrives(engine) }
        let already = total.changes?.alreadyFailing ?? 0
        if already > 0 { clauses.append("\(already.grouped) of them already") }
        let excepted = total.excepted > 0 ? " (\(total.excepted.grouped) excepted)" : ""
        let sentence = clauses.joined(separator: ", ") + excepted + "."
        return verdict.isPartial ? "At least \(sentence)" : sentence
    }

    private func nothingFound(_ engine: Engine) -> String {
        "Nothing found, but not every document was read: it is unknown what halts \(engine.name) or does not arrive."
    }

    private func everythingArrives(_ engine: Engine) -> String {
        let all = engine == .any ? "No document troubles an engine" : "Every document arrives in \(engine.name)"
        let fits = hasSchema ? ", and fits the schema" : ""
        let (count, verb) = (absent.count, absent.count == 1 ? "does" : "do")
        return all + fits + (count == 0 ? "" : ", but \(count.counted("collection")) \(verb) not exist") + "."
    }
}

extension DocumentCounts {
    /// Returns a clause for each outcome that documents have in an engine, the worst first; the first clause names the
    /// engine.
    func clauses(on name: Engine, hasSchema: Bool) -> [String] {
        let counts = engine ?? EngineCounts()
        var clauses: [String] = []
        var place: String { clauses.isEmpty ? " in \(name.name)" : "" }
        if counts.halting > 0 {
            clauses.append(
                "\(counts.halting.documents) \(counts.halting == 1 ? "halts" : "halt") \(name.name) for all users")
        }
        if counts.dropped > 0 {
            clauses.append("\(counts.dropped.documents) never \(counts.dropped == 1 ? "arrives" : "arrive")\(place)")
        }
        if counts.values > 0 {
            let (values, arrive) = counts.values == 1 ? ("value", "arrives") : ("values", "arrive")
            clauses.append(
                "\(counts.values.grouped) \(values) of \(counts.losing.documents) \(arrive)\(place) as 0 or null, or "
                    + "not at all")
        }
        let unfit = hasSchema ? certain - counts.halting - counts.dropped - counts.losing : 0
        if unfit > 0 { clauses.append("\(unfit.documents) \(unfit == 1 ? "does" : "do") not fit the schema") }
        return clauses
    }
}

extension EngineCounts {
    /// The counts as JSON.
    var json: ReportValue {
        [
            "halting": halting, "halting_excepted": haltingExcepted, "dropped": dropped, "losing_values": losing,
            "values_lost": values,
        ]
    }
}
