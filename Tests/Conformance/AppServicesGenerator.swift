package import BSON
package import Proving

extension CaseGroup {
    /// The schema as text in the App Services dialect; `nil` if extended JSON cannot express it.
    ///
    /// In the text, some types that exist in MongoDB but not in clients are replaced by types that exist only in App
    /// Services.
    package var appServicesText: String? {
        guard var text = try? schema.extendedJSON() else { return nil }
        for (type, other) in [("timestamp", "uuid"), ("regex", "mixed"), ("minKey", "mixed"), ("symbol", "uuid")] {
            text = text.split(separator: "\"\(type)\"", omittingEmptySubsequences: false)
                .joined(separator: "\"\(other)\"")
        }
        return text
    }

    /// The documents in which no field name occurs twice.
    ///
    /// If a name occurs twice, the checker judges both fields, but a query on the server sees only the first one.
    package var plainDocuments: [BSONDocument] { documents.filter(\.hasDistinctNames) }
}
