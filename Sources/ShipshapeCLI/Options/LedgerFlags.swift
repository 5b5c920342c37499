internal import ArgumentParser
internal import BSON
internal import Scanning
internal import ServerSchema

/// The flags for the location of the ledger of unsynced documents, and for the app whose entries count.
struct LedgerFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The ledger of unsynced documents, or none if there is no ledger; default: unsynced_documents in "
                + "__realm_sync and in the per-app databases __realm_sync_<app id>.",
            valueName: "db.collection"),
        transform: Self.location(parsing:))
    var ledger: LedgerLocation?

    @Option(
        name: [.customLong("app-id"), .customLong("app")],
        help: ArgumentHelp(
            "The internal ID of the app whose ledger entries count; default: the app that the schema names, else "
                + "the app with the most entries; for unsynced, all apps.",
            valueName: "id"))
    var appId: String?

    func validate() throws {
        if case .none? = ledger, appId != nil {
            throw ValidationError("--app-id does not go with --ledger none: without a ledger no app has entries")
        }
    }

    /// The location of the ledger: the one that `--ledger` states or, without the flag, the collections of the sync
    /// engine.
    var location: LedgerLocation { ledger ?? .standard }

    /// Returns the location of the ledger, and the apps whose entries count.
    /// - Parameter schemas: the schemas of the command, which may name their app.
    func scope(of schemas: [ServerSchema?]) -> LedgerScope { LedgerScope(location, of: apps(of: schemas)) }

    /// Returns the apps whose ledger entries count.
    /// - Parameter schemas: the schemas of the command, which may name their app.
    func apps(of schemas: [ServerSchema?]) -> LedgerApps {
        LedgerApps(stated: appId, schemas: schemas.map { $0?.appID })
    }

    /// Returns the error for a ledger that was not found; `nil` if the operator named no ledger.
    ///
    /// The operator may have mistyped the name, so the command must not take the missing collection for an empty
    /// ledger.
    static func missing(_ location: LedgerLocation) -> UsageError? {
        guard case .named(let ledger) = location else { return nil }
        return UsageError("--ledger \(ledger): there is no such collection (if there is no ledger, use --ledger none)")
    }

    private static func location(parsing text: String) throws -> LedgerLocation {
        if text == "none" { return .none }
        guard let namespace = Namespace(text) else {
            throw ValidationError("it is neither none nor DATABASE.COLLECTION")
        }
        return .named(namespace)
    }
}
