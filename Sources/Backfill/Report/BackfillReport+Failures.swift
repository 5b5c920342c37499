package import BSON
import JobState

extension BackfillReport {
    /// The documents that were skipped for one reason.
    package struct FailureGroup: Sendable {
        /// The server's code; 0 for a document that the sync translator holds locked.
        package var code: Int
        /// The reason in words.
        package var name: String
        /// How many.
        package var count: Int
        /// The `_id`s of a few.
        package var samples: [BSONValue]

        /// Groups by code, the most frequent first.
        /// - Parameter unlisted: locked documents that count beside those that are listed.
        static func all(of failures: [Failure], unlisted: Int = 0) -> [FailureGroup] {
            Dictionary(grouping: failures, by: \.code).map { code, failures in
                FailureGroup(
                    code: code, name: failures[0].name, count: failures.count + (code == 0 ? unlisted : 0),
                    samples: failures.prefix(Survey.samples).map(\.id))
            }.sorted { ($1.count, $0.code) < ($0.count, $1.code) }
        }
    }
}
