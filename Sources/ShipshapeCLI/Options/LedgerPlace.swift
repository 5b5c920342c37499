internal import Scanning
internal import ServerSchema

/// The ledger of unsynced documents, and the apps whose entries count, as the settings say.
enum LedgerPlace {
    /// The location that the settings name; `nil` if they name none.
    static var stated: LedgerLocation? { Settings.current[Known.ledger] }

    /// The location of the ledger: the one that the settings name, or else the collections of the sync engine.
    static var location: LedgerLocation { stated ?? .standard }

    /// Returns the location of the ledger, and the apps whose entries count.
    /// - Parameter schemas: the schemas of the command, which may name their app.
    static func scope(of schemas: [ServerSchema?] = []) -> LedgerScope { LedgerScope(location, of: apps(of: schemas)) }

    /// Returns the apps whose ledger entries count.
    /// - Parameter schemas: the schemas of the command, which may name their app.
    static func apps(of schemas: [ServerSchema?] = []) -> LedgerApps {
        LedgerApps(stated: Settings.current[Known.appID], schemas: schemas.map { $0?.appID })
    }
}
