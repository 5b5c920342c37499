package import BSON

/// What an inference made of the documents of one or more collections.
package struct InferReport: Sendable {
    /// One collection.
    package struct Collection: Sendable {
        /// The schema, and what it was made from.
        package let inference: Inference
        /// What a check of the documents by it found.
        package let outcome: Outcome
        /// How many documents were taken at random; `nil` when all were read.
        package let sampleSize: Int?
        /// What the documents that were read match; `nil` for all.
        package let filter: BSONDocument?

        /// Joins the parts.
        package init(_ inference: Inference, _ outcome: Outcome, sampleSize: Int? = nil, filter: BSONDocument? = nil) {
            self.inference = inference
            self.outcome = outcome
            self.sampleSize = sampleSize
            self.filter = filter
        }
    }

    /// Where the documents are, without secrets.
    package let source: String
    /// How the schemas were made.
    package let options: InferOptions
    /// One per collection that has documents.
    package let collections: [Collection]
    /// What the reader should know.
    package var notes: [String]
    /// How long it took.
    package let duration: Duration

    /// Joins the parts.
    package init(
        source: String, options: InferOptions, collections: [Collection], notes: [String], duration: Duration
    ) {
        self.source = source
        self.options = options
        self.collections = collections
        self.notes = notes
        self.duration = duration
    }

    /// Whether every schema accepts what was asked for.
    package var isWithinCover: Bool { collections.allSatisfy(\.outcome.isWithinCover) }
}
