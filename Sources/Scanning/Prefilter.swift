package import BSON
package import Mongo

/// A filter for documents that certainly fit the schema, so that the server need not send them.
package struct Prefilter: Sendable {
    /// A filter that proves that a document fits: documents that match have no finding above the level `info`.
    ///
    /// Documents that do not match may fit as well.
    package let proof: BSONDocument

    /// Creates a prefilter from a filter that proves that a document fits.
    package init(proof: BSONDocument) { self.proof = proof }
}

/// Counts on the server how many documents match each of several filters, one filter for each group of findings.
///
/// A check compares these numbers with the numbers that it found itself. One aggregation counts for several filters.
package struct FilterProof {
    let namespace: Namespace
    /// A filter for the documents that the check reads; empty for all documents.
    let selection: BSONDocument

    /// The largest number of filters in one aggregation.
    private static var filtersPerWalk: Int { 25 }

    package init(_ namespace: Namespace, selection: BSONDocument = [:]) {
        self.namespace = namespace
        self.selection = selection
    }

    /// Returns how many documents of the selection each filter matches, read with the read concern `majority`.
    /// - Throws: ``MongoError``.
    package func counts(_ filters: [BSONDocument], on client: borrowing Client) throws(MongoError) -> [Int] {
        var counts: [Int] = []
        for slice in filters.map(BSONValue.object).commandSlices(count: Self.filtersPerWalk) {
            let facets = slice.enumerated().map { ("g\($0)", [["$match": $1], ["$count": "n"]] as BSONValue) }
            var cursor = client.collection(namespace).aggregate(
                [["$match": .object(selection)], ["$facet": .object(BSONDocument(facets))]],
                options: ["readConcern": ["level": "majority"], "comment": "shipshape check --count-groups"])
            let reply = try cursor.nextDocument()
            counts += slice.indices.map { index in
                reply?["g\(index)"]?.document?.values.first?.document?["n"]?.integer ?? 0
            }
        }
        return counts
    }
}
