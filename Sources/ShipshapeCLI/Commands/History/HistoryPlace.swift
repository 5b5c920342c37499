internal import ArgumentParser
internal import BSON
internal import Mongo
internal import Privileges
internal import Reporting

/// The place where checks are kept: a folder, or a database of the deployment.
enum HistoryPlace {
    case folder(String)
    case database(String)

    /// The prefix of a database; a folder whose name begins with it is written with a leading `./`.
    private static let databasePrefix = "db:"

    /// - Throws: ``ValidationError`` for a name that a database cannot have.
    init(parsing text: String) throws {
        guard text.hasPrefix(Self.databasePrefix) else {
            self = .folder(text)
            return
        }
        let name = String(text.dropFirst(Self.databasePrefix.count))
        guard StateFlags.canHoldState(name) else {
            throw ValidationError("\"\(name)\" cannot be the name of a database for the history")
        }
        self = .database(name)
    }

    /// The database, for the role of a command.
    var resources: WorkPlaces {
        var places = WorkPlaces()
        if case .database(let name) = self { places.add([.database(name)], to: .history) }
        return places
    }
}

extension HistoryPlace: CustomStringConvertible {
    /// The place as it is typed.
    var description: String {
        switch self {
        case .folder(let name): name
        case .database(let name): Self.databasePrefix + name
        }
    }
}

/// A store for the counts of checks.
protocol HistoryStore: Sendable {
    /// Returns all checks that are kept, and notes on other entries, which are passed over.
    func read() throws -> CheckHistory

    /// Adds a check.
    func add(_ summary: CheckSummary) throws

    /// Removes all checks except the newest ones; other entries stay.
    /// - Returns: how many were removed.
    func keep(_ count: Int) throws -> Int
}

extension CheckSummary {
    /// A unique name for each check, even within one second; names sort by time.
    var name: String {
        "\(at.iso8601.replacing(":", with: ""))-\(String(UInt64.random(in: .min ... .max), radix: 36))"
    }
}
