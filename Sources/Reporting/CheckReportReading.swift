import BSON
import Checking

extension CheckReport.Collection.Reading {
    /// A sentence for each fact about the reading of the collection, for example which documents were not read, or
    /// which guarantee the result lacks.
    var sentences: [String] {
        var lines: [String] = []
        switch selection {
        case .everything: break
        case .matching(let filter):
            lines.append("Only documents that match \(ShellLiteral.text(.object(filter))) were read.")
        case .sample(let count): lines.append("Only a random sample of at most \(count.documents) was read.")
        case .part(let part):
            lines.append("Only part \(part) of the documents was read. To join all parts: shipshape merge.")
        }
        if let passed = passedOverCount {
            let (were, fit) = passed == 1 ? ("was", "it fits") : ("were", "they fit")
            lines.append("About \(passed.documents) \(were) not read: the prefilter proves that \(fit).")
        }
        if let time = clusterTime {
            let again = changedCount > 0 ? "; \(changedCount.documents) changed during the scan" : ""
            lines.append("Consistent as of \(time)\(again).")
        }
        return lines + missing.map { "\($0.guarantee.words): \($0.reason)." }
    }
}

extension MissingGuarantee.Guarantee {
    /// The consequence for the result if this guarantee is missing, as a clause.
    fileprivate var words: String {
        switch self {
        case .oneMoment: "Not a point-in-time result"
        case .resumable: "Not resumable: a lost cursor ends the check"
        case .everyDocument: "Some documents might not have been judged"
        case .sameCollection: "The collection might have been replaced during the check"
        }
    }
}

extension CheckReportJSON {
    func reading(_ collection: CheckReport.Collection) -> ReportValue {
        let reading = collection.reading
        let source = reading.namespace ?? collection.namespace
        return [
            "database": source.database, "collection": source.collection, "cluster_time": reading.clusterTime.map(time),
            "documents_changed": reading.changedCount, "selection": selection(reading.selection),
            "documents_passed_over": reading.passedOverCount, "documents_counted": reading.exactCount,
            "missing_guarantees": reading.missing.map {
                ["guarantee": $0.guarantee.rawValue, "reason": $0.reason] as ReportValue
            },
        ]
    }

    private func time(_ time: ClusterTime) -> ReportValue {
        ["t": time.seconds, "i": time.ordinal]
    }

    private func selection(_ selection: CheckReport.Collection.Selection) -> ReportValue {
        switch selection {
        case .everything: ["kind": "everything"]
        case .matching(let filter):
            ["kind": "matching", "filter": filter]
        case .sample(let count): ["kind": "sample", "size": count]
        case .part: ["kind": "part"]
        }
    }
}
