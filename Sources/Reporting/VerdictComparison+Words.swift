import BSON
import Checking

extension VerdictComparison {
    var sentence: String {
        guard count > 0 else {
            return "No verdict compared with the server's: \(restriction ?? "no document was found again")."
        }
        let differing = differenceCount == 1 ? "1 differs" : "\(differenceCount.grouped) differ"
        return "\(count.counted("verdict")) compared with the server's: "
            + (differenceCount == 0 ? "no difference" : differing) + (restriction.map { " (not all: \($0))" } ?? "")
            + "."
    }

    /// Returns the server's verdict on a few documents on which the verdicts differ; `nil` if none differs.
    func warning(in namespace: Namespace, ids: IDDisplay) -> String? {
        guard differenceCount > 0 else { return nil }
        let clauses = [(true, "accepts"), (false, "refuses")].compactMap { isAccepted, verb -> String? in
            let shown = differences.filter { $0.isAccepted == isAccepted }.compactMap { ids.text($0.id) }
            return shown.isEmpty ? nil : "\(verb) the documents with _id \(shown.joined(separator: ", "))"
        }
        return "\(namespace): the server (\(version)) judges \(differenceCount.documents) differently"
            + (clauses.isEmpty ? "" : "; for example, it \(clauses.joined(separator: ", and "))")
    }

    func json(ids: IDDisplay) -> ReportValue {
        [
            "server": version, "compared": count, "different": differenceCount,
            "server_accepts": ids.json(differences.filter(\.isAccepted).map(\.id)),
            "server_refuses": ids.json(differences.filter { !$0.isAccepted }.map(\.id)), "not_compared": restriction,
        ]
    }
}
