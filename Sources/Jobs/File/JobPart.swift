package import Checking

/// A part of a job is a job of its own, with its own lease, checkpoint and journal: these are the parts' names.
extension CheckPart {
    /// What all parts of a job have in their names.
    private static let mark = ".part-"

    /// The name of this part of a job.
    package func name(of job: String) -> String { "\(job)\(Self.mark)\(number)-of-\(count)" }

    /// Whether a name is that of a part of a job.
    package static func isName(_ name: String) -> Bool { pieces(of: name) != nil }

    /// Whether two jobs are parts of one, so that no document is both's.
    package static func areOfOneJob(_ one: String, _ other: String) -> Bool {
        guard one != other, let left = pieces(of: one), let right = pieces(of: other) else { return false }
        return left == right
    }

    private static func pieces(of name: String) -> (job: Substring, count: Int)? {
        guard let mark = name.ranges(of: mark).last else { return nil }
        let numbers = name[mark.upperBound...].split(separator: "-of-", omittingEmptySubsequences: false).map {
            Int($0)
        }
        guard numbers.count == 2, numbers[0] != nil, let count = numbers[1] else { return nil }
        return (name[..<mark.lowerBound], count)
    }
}
