package import BSON

extension CaseGroup {
    /// The schema as text in App Services' dialect, or `nil` if extended JSON cannot express it.
    ///
    /// Some types of MongoDB that no client has are replaced by types that only App Services has.
    package var appServicesText: String? {
        guard var text = try? schema.extendedJSON() else { return nil }
        for (type, other) in [("timestamp", "uuid"), ("regex", "mixed"), ("minKey", "mixed"), ("symbol", "uuid")] {
            text = text.split(separator: "\"\(type)\"", omittingEmptySubsequences: false)
                .joined(separator: "\"\(other)\"")
        }
        return text
    }

    /// The documents in which no name is repeated.
    ///
    /// The checker judges each field of a repeated name, but a query of the server sees only the first one.
    package var plainDocuments: [BSONDocument] { documents.filter(\.hasDistinctNames) }
}

extension BSONDocument {
    fileprivate var hasDistinctNames: Bool {
        let elements = (try? elements()) ?? []
        return Set(elements.map { Array($0.name.utf8) }).count == elements.count
            && elements.allSatisfy { $0.value.document?.hasDistinctNames ?? true }
    }
}
