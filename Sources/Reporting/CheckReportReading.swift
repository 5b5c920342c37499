import BSON
import Checking

extension CheckReportText {
    /// Returns a line for each fact about how the documents of a collection were read, such as which were not read and
    /// which guarantee is missing.
    func readingLines(_ reading: CheckReport.Collection.Reading) -> [String] {
        var lines: [String] = []
        switch reading.selection {
        case .everything: break
        case .matching(let filter):
            lines.append("Only documents that match \(ShellLiteral.text(.object(filter))) were read.")
        case .sample(let count): lines.append("Only a random sample of at most \(count.documents) was read.")
        case .part(let part):
            lines.append("Only part \(part) of the documents was read. To join all parts: shipshape merge.")
        }
        if let passed = reading.passedOverCount {
            let (were, fit) = passed == 1 ? ("was", "it fits") : ("were", "they fit")
            lines.append("About \(passed.documents) \(were) not read: the prefilter proves that \(fit).")
        }
        if let time = reading.clusterTime {
            let again = reading.changedCount > 0 ? "; \(reading.changedCount.documents) changed during the scan" : ""
            lines.append("Consistent as of \(time)\(again).")
        }
        return lines + reading.missing.map { "\($0.guarantee.words): \($0.reason)." }
    }
}

extension MissingGuarantee.Guarantee {
    /// The consequence of the missing guarantee for the result.
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
        return .object([
            ("database", .string(source.database)),
            ("collection", .string(source.collection)),
            ("cluster_time", reading.clusterTime.map(time) ?? .null),
            ("documents_changed", .integer(reading.changedCount)),
            ("selection", selection(reading.selection)),
            ("documents_passed_over", reading.passedOverCount.map { .integer($0) } ?? .null),
            ("documents_counted", reading.exactCount.map { .integer($0) } ?? .null),
            (
                "missing_guarantees",
                .array(
                    reading.missing.map {
                        .object([("guarantee", .string($0.guarantee.rawValue)), ("reason", .string($0.reason))])
                    })
            ),
        ])
    }

    private func time(_ time: ClusterTime) -> ReportValue {
        .object([("t", .integer(time.seconds)), ("i", .integer(time.ordinal))])
    }

    private func selection(_ selection: CheckReport.Collection.Selection) -> ReportValue {
        switch selection {
        case .everything: .object([("kind", .string("everything"))])
        case .matching(let filter):
            .object([("kind", .string("matching")), ("filter", .extended(.object(filter)))])
        case .sample(let count): .object([("kind", .string("sample")), ("size", .integer(count))])
        case .part: .object([("kind", .string("part"))])
        }
    }
}
