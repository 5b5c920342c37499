/// One of several parts of a job's documents, for runners side by side: each part is a job of its own, with its own lease,
/// checkpoint and journal.
package struct JobPart: Hashable, Sendable {
    /// Which part it is, from 1 on.
    package let number: Int
    /// How many parts there are.
    package let count: Int

    /// More parts than a deployment has use for runners.
    package static let most = 64

    /// - Returns: `nil` where there is no such part.
    package init?(number: Int, count: Int) {
        guard (2...Self.most).contains(count), (1...count).contains(number) else { return nil }
        (self.number, self.count) = (number, count)
    }

    /// What all parts of a job have in their names.
    private static let mark = ".part-"

    /// The name of the part of a job.
    package func name(of job: String) -> String { "\(job)\(Self.mark)\(number)-of-\(count)" }

    /// Whether two jobs are parts of one, so that no document is both's.
    package static func areParts(_ one: String, _ other: String) -> Bool {
        let (left, right) = (pieces(of: one), pieces(of: other))
        return one != other && left != nil && left?.job == right?.job && left?.count == right?.count
    }

    /// Whether a name is that of a part.
    package static func isPart(_ name: String) -> Bool { pieces(of: name) != nil }

    private static func pieces(of name: String) -> (job: Substring, count: Substring)? {
        guard let mark = name.ranges(of: mark).last else { return nil }
        let numbers = name[mark.upperBound...].split(separator: "-of-", omittingEmptySubsequences: false)
        guard numbers.count == 2, numbers.allSatisfy({ Int($0) != nil }) else { return nil }
        return (name[..<mark.lowerBound], numbers[1])
    }
}
