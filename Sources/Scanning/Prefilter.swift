package import BSON

/// What proves a document good without the checker, so that the server can hold it back.
package struct Prefilter: Sendable {
    /// A filter that matches only documents in which the checker finds nothing; it may leave out as many as it likes.
    package let proof: BSONDocument

    /// Wraps a filter.
    package init(proof: BSONDocument) { self.proof = proof }
}
