import BSON
import Files
import JobState
import Mongo
package import Privileges
package import Reporting

/// The place that stores the counts of checks: a folder, or a database of the deployment.
package enum HistoryPlace {
    case folder(String)
    case database(String)

    /// The prefix that marks the name of a database.
    ///
    /// An operator names a folder that begins with this prefix by a path with a leading `./`.
    private static let databasePrefix = "db:"

    /// Reads the value of `--history`.
    /// - Throws: ``UsageError`` for a database that cannot hold the history.
    package init(parsing text: String) throws {
        guard text.hasPrefix(Self.databasePrefix) else {
            self = .folder(text)
            return
        }
        let name = String(text.dropFirst(Self.databasePrefix.count))
        if let reason = StateDatabaseName.refusal(of: name) {
            throw UsageError("\"\(name)\" cannot be the name of a database for the history: \(reason)")
        }
        self = .database(name)
    }

    /// The database on which the user needs privileges; none for a folder.
    package var resources: WorkPlaces {
        var places = WorkPlaces()
        if case .database(let name) = self { places.add([.database(name)], to: .history) }
        return places
    }
}

extension HistoryPlace: CustomStringConvertible {
    /// The folder or the database, as the operator types it.
    package var description: String {
        switch self {
        case .folder(let name): name
        case .database(let name): Self.databasePrefix + name
        }
    }
}

/// A folder or a database that stores the counts of checks.
package protocol HistoryStore: Sendable {
    /// Returns the counts of all checks in the store, with notes on the files or documents that it ignores.
    func read() throws -> CheckHistory

    func add(_ summary: CheckSummary) throws

    /// Removes the counts of all checks except the newest ones.
    ///
    /// Files and documents that cannot be read as the summary of a check stay.
    /// - Parameter count: the number of checks that stay.
    /// - Returns: the number of checks whose counts were removed.
    func keep(_ count: Int) throws -> Int
}

extension CheckSummary {
    /// A name for the stored check.
    ///
    /// The names sort by time, and differ even for checks within one second.
    package var name: String {
        "\(at.iso8601.replacing(":", with: ""))-\(String(UInt64.random(in: .min ... .max), radix: 36))"
    }
}
