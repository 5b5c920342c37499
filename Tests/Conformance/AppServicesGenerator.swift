package import BSON

extension CaseGroup {
    /// The schema in the words of App Services, as its text: some types of MongoDB's that no client has become types that
    /// only App Services has.
    package var appServicesText: String? {
        guard var text = try? schema.extendedJSON() else { return nil }
        for (type, other) in [("timestamp", "uuid"), ("regex", "mixed"), ("minKey", "mixed"), ("symbol", "uuid")] {
            text = text.split(separator: "\"\(type)\"", omittingEmptySubsequences: false)
                .joined(separator: "\"\(other)\"")
        }
        return text
    }

    /// The documents in which no name repeats: the walk judges each of such fields, and a query sees the first.
    package var plainDocuments: [BSONDocument] { documents.filter(\.hasDistinctNames) }
}

extension BSONDocument {
    fileprivate var hasDistinctNames: Bool {
        let elements = (try? elements()) ?? []
        return Set(elements.map { Array($0.name.utf8) }).count == elements.count
            && elements.allSatisfy { $0.value.document?.hasDistinctNames ?? true }
    }
}
