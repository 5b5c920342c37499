internal import ArgumentParser
internal import BSON
internal import Mongo
internal import Privileges
internal import Reporting

/// Where checks are kept: in a folder, or in a database of the deployment.
enum HistoryPlace {
    case folder(String)
    case database(String)

    /// What tells a database from a folder; a folder of such a name is written with `./` before it.
    private static let databasePrefix = "db:"

    /// - Throws: ``ValidationError`` for what cannot be a database's name.
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

    /// The database, as a command's role has to know it.
    var resources: WorkPlaces {
        var places = WorkPlaces()
        if case .database(let name) = self { places.add([.database(name)], to: .history) }
        return places
    }
}

extension HistoryPlace: CustomStringConvertible {
    /// As it is typed.
    var description: String {
        switch self {
        case .folder(let name): name
        case .database(let name): Self.databasePrefix + name
        }
    }
}

/// Keeps the counts of checks.
protocol HistoryStore: Sendable {
    /// All checks that are kept; what else is there is named and passed over.
    func read() throws -> CheckHistory

    /// Keeps a check.
    func add(_ summary: CheckSummary) throws

    /// Removes all checks but the newest; what others keep there stays.
    /// - Returns: how many were removed.
    func keep(_ count: Int) throws -> Int
}

extension CheckSummary {
    /// A name of its own for each check, also for two of one second; by their names they are in the order of time.
    var name: String {
        "\(at.iso8601.replacing(":", with: ""))-\(String(UInt64.random(in: .min ... .max), radix: 36))"
    }
}
