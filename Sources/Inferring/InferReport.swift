package import BSON

/// The result of inferring schemas from the documents of one or more collections.
package struct InferReport: Sendable {
    package struct Collection: Sendable {
        /// The schema, and the counts of the documents from which the schema was inferred.
        package let inference: Inference
        /// The result of checking the documents against the schema.
        package let outcome: Outcome
        /// The requested size of the random sample; `nil` if all documents were read.
        package let sampleSize: Int?
        /// The filter that selected the documents to read; `nil` for all documents.
        package let filter: BSONDocument?

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
    package let collections: [Collection]
    package var notes: [String]
    /// The duration of the inference.
    package let duration: Duration

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
