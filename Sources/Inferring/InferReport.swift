package import BSON

/// The result of inferring schemas from the documents of one or more collections.
package struct InferReport: Sendable {
    /// The result for one collection.
    package struct Collection: Sendable {
        /// The schema, and the counts of the documents from which the schema was inferred.
        package let inference: Inference
        /// The result of checking the documents against the schema.
        package let outcome: Outcome
        /// The requested size of the random sample; `nil` if all documents were read.
        package let sampleSize: Int?
        /// The filter that selected the documents to read; `nil` for all documents.
        package let filter: BSONDocument?

        /// Creates a result from its parts.
        package init(_ inference: Inference, _ outcome: Outcome, sampleSize: Int? = nil, filter: BSONDocument? = nil) {
            self.inference = inference
            self.outcome = outcome
            self.sampleSize = sampleSize
            self.filter = filter
        }
    }

    /// The source of the documents, without passwords.
    package let source: String
    /// The options that the schemas were made with.
    package let options: InferOptions
    /// The results, one for each collection that has documents.
    package let collections: [Collection]
    /// Notes for the operator.
    package var notes: [String]
    /// The duration of the inference.
    package let duration: Duration

    /// Creates a report from its parts.
    package init(
        source: String, options: InferOptions, collections: [Collection], notes: [String], duration: Duration
    ) {
        self.source = source
        self.options = options
        self.collections = collections
        self.notes = notes
        self.duration = duration
    }

    /// Whether each schema accepts at least the requested share of its collection's documents.
    package var isWithinCover: Bool { collections.allSatisfy(\.outcome.isWithinCover) }
}
