package import BSON

extension CaseGroup {
    /// The schema as text in App Services' dialect: some of MongoDB's types that no client has become types that only
    /// App Services has.
    package var appServicesText: String? {
        guard var text = try? schema.extendedJSON() else { return nil }
        for (type, other) in [("timestamp", "uuid"), ("regex", "mixed"), ("minKey", "mixed"), ("symbol", "uuid")] {
            text = text.split(separator: "\"\(type)\"", omittingEmptySubsequences: false)
                .joined(separator: "\"\(other)\"")
        }
        return text
    }

    /// The documents without repeated names: the checker judges each of such fields, but a query sees only the first.
    package var plainDocuments: [BSONDocument] { documents.filter(\.hasDistinctNames) }
}

extension BSONDocument {
    fileprivate var hasDistinctNames: Bool {
        let elements = (try? elements()) ?? []
        return Set(elements.map { Array($0.name.utf8) }).count == elements.count
            && elements.allSatisfy { $0.value.document?.hasDistinctNames ?? true }
    }
}
