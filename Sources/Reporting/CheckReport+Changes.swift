import BSON
import Checking

extension CheckReport {
    /// A table with the numbers of documents that newly fail, already fail or are fixed, with a row per collection.
    ///
    /// The table is `nil` without an active schema to compare with.
    var changesTable: Report.Table? {
        guard let total = total.changes, let active else { return nil }
        let compared = collections.compactMap { collection in
            collection.counts.changes.map { (name: "\(collection.namespace)", changes: $0) }
        }.filter { $0.changes != VerdictChanges() }
        let hasPossible = total.newlyPossible + total.alreadyPossible + total.possiblyHealed > 0
        let certain = ["newly failing", "already failing", "fixed"]
        let possible = hasPossible ? ["possibly: newly", "already", "fixed"] : []
        return Report.Table(
            title: "Compared with \(active)",
            columns: [Report.Column(title: "")] + (certain + possible).map { Report.Column(title: $0, isNumber: true) },
            rows: (compared.count == 1 ? compared : compared + [("total", total)]).map { name, changes in
                let certain = [changes.newlyFailing, changes.alreadyFailing, changes.healed]
                let possible =
                    hasPossible ? [changes.newlyPossible, changes.alreadyPossible, changes.possiblyHealed] : []
                return [Report.Cell(name)] + (certain + possible).map { Report.Cell($0.grouped) }
            })
    }
}
