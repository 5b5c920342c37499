package import BSON
package import Mongo

/// What proves a document good without the checker, so that the server can hold it back.
package struct Prefilter: Sendable {
    /// A filter that matches only documents in which the checker finds nothing; it may leave out as many as it likes.
    package let proof: BSONDocument

    /// Wraps a filter.
    package init(proof: BSONDocument) { self.proof = proof }
}

/// Counts on the server what filters find: many filters in one walk over the collection.
package struct FilterProof {
    let namespace: Namespace
    /// The documents that were meant to be read; all of them by default.
    let selection: BSONDocument

    /// The filters of one walk.
    private static var filtersPerWalk: Int { 25 }

    /// Prepares to count.
    package init(_ namespace: Namespace, selection: BSONDocument = [:]) {
        self.namespace = namespace
        self.selection = selection
    }

    /// How many documents each filter finds, with majority.
    /// - Throws: ``MongoError``.
    package func counts(_ filters: [BSONDocument], on client: borrowing Client) throws(MongoError) -> [Int] {
        var counts: [Int] = []
        for slice in filters.map(BSONValue.object).commandSlices(count: Self.filtersPerWalk) {
            let facets = slice.enumerated().map { ("g\($0)", [["$match": $1], ["$count": "n"]] as BSONValue) }
            var cursor = client.collection(namespace).aggregate(
                [["$match": .object(selection)], ["$facet": .object(BSONDocument(facets))]],
                options: ["readConcern": ["level": "majority"], "comment": "shipshape check --prove"])
            let reply = try cursor.nextDocument()
            counts += slice.indices.map { index in
                reply?["g\(index)"]?.document?.values.first?.document?["n"]?.integer ?? 0
            }
        }
        return counts
    }
}
