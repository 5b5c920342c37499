package import BSON

/// The result of a comparison between the program and a server: for each group, how many cases were compared, and
/// which of them differ.
package struct Proof: Sendable {
    /// A part of what the program assumes of a server.
    package enum Group: String, Sendable, CaseIterable {
        /// The verdicts of the dialect `jsonschema`, and the schemas that it refuses.
        case judging
        /// The changes that the steps of jobs make to documents.
        case computing
        /// The order of values, and the sizes of documents.
        case reading
        /// The assumptions about transactions, sessions and change streams on which the engine relies.
        case writing
    }

    /// A case for which the program and the server differ.
    package struct Difference: Sendable {
        package let group: Group
        /// The keywords, the step of a job or the assumption that differs.
        package let subject: String
        /// The smallest case that was found, such as a schema and a document; empty for an assumption.
        package let reproduction: BSONDocument
        /// The program's answer, or its assumption.
        package let program: String
        /// The server's answer.
        package let server: String
    }

    /// The cases of one group.
    package struct Part: Sendable {
        package let group: Group
        /// The number of cases that were compared.
        package var cases = 0
        /// The number of cases without an answer of the server, such as those for which an expression fails.
        package var unanswered = 0
        /// The number of cases that differ in a way that `docs/reference/servers.md` describes for this version.
        package var known = 0
        /// The time that the group took, in seconds.
        package var seconds = 0.0
        /// The number of cases for each keyword, operator or assumption.
        package var counts: [String: Int] = [:]
        package var differences: [Difference] = []
        /// The number of cases that differ in addition to the ``differences``, which hold the first ones only.
        package var missed = 0
        /// The number of all cases that differ.
        package var differing: Int { differences.count + missed }
        /// The server's reason for the first of the ``unanswered`` cases.
        package var firstFailure: String?
        /// Why the group was not compared, or only a part of it; `nil` if all of it was.
        package var restriction: String?

        /// Makes a part without cases.
        package init(_ group: Group, untried reason: String? = nil) { (self.group, restriction) = (group, reason) }

        /// Whether another difference is worth the search for its smallest form.
        var wantsMore: Bool { differences.count < 10 }

        /// Counts cases that both sides answered.
        mutating func compared(_ keys: some Sequence<String>, count: Int = 1) {
            guard count > 0 else { return }
            cases += count
            for key in keys { counts[key, default: 0] += count }
        }

        /// Adds a difference, by the smallest case that shows it.
        mutating func differ(_ subject: String, _ reproduction: BSONDocument, program: String, server: String) {
            differences.append(
                Difference(
                    group: group, subject: subject, reproduction: reproduction, program: program, server: server))
        }

        /// Counts a case that the server did not answer; the first reason is kept.
        mutating func isUnanswered(_ reason: String) {
            unanswered += 1
            if firstFailure == nil { firstFailure = reason }
        }
    }

    /// The server's version, such as "6.0.5".
    package let version: String
    /// The seed that determines the generated cases.
    package let seed: UInt64
    /// The groups that were compared, in the order of ``Group``.
    package var parts: [Part] = []
    /// Whether the operator stopped the proof before its time.
    package var isStopped = false
    /// The server's reason why it does not run the pipelines of a proof at all; `nil` if it runs them.
    package var refusal: String?

    package var differences: [Difference] { parts.flatMap(\.differences) }
}

extension BSONDocument {
    /// The document as canonical extended JSON, which names the type of each number.
    package var shown: String { (try? extendedJSON()) ?? "\(self)" }
}
