internal import BSON
import Backfill
internal import Check
internal import Checking
internal import Files
internal import JobReports
internal import Jobs
internal import Mongo
internal import Partners
internal import Privileges
internal import Scanning
internal import ServerSchema
internal import Steps
internal import Watching

/// The collections and databases on which a command works, and on which the role for it must give privileges.
///
/// The command's files name them; without a file, the operator names the collections.
struct GrantSubject {
    private(set) var places: WorkPlaces
    /// Whether the operator gave `live` as the schema, which means the validators of the collections.
    private(set) var isLive = false

    /// The commands whose file argument is a schema.
    private static let ofSchemas: Set = [
        "check", "diff", "lint", "plan", "enforce", "schema infer", "ledger show", "ledger follow", "doctor",
        "schema models", "partner plan",
    ]
    private static let ofEngines: Set = ["check", "plan", "ledger follow"]
    /// The commands that can do their work with privileges on the state database alone.
    private static let ofState: Set = [
        "status", "job pause", "job resume", "job tune", "job deployed", "doctor",
    ]

    /// Reads the files that the command works on.
    /// - Throws: errors of reading; ``UsageError`` if neither a file nor a name says what the command works on.
    init(
        _ files: [String], for command: String, collections: [Namespace], engine: EngineFlags, history: HistoryPlace?,
        failures: Namespace?
    ) throws {
        let state = StateDatabase.name
        places = WorkPlaces(reading: collections, state: state)
        let (location, apps) = (LedgerPlace.location, LedgerPlace.apps().ids)
        let name = command.replacing(" --dry-run", with: "").replacing(" --database", with: "")
            .replacing(" --part", with: "")
        guard engine.named == nil || Self.ofEngines.contains(name) else {
            throw UsageError("--engine: \(name) has no such option")
        }
        let isOfPartner = name == "status" && files.allSatisfy { PartnerJob.isPartnerJob(at: $0) }
        if name.hasPrefix("partner ") && !Self.ofSchemas.contains(name) || isOfPartner {
            for file in files {
                let partner = try PartnerArguments.read(file)
                places.add(WorkPlaces(partner, state: state, ledger: location, apps: apps))
            }
        } else if Self.ofSchemas.contains(name) {
            let hasLedger = (engine.engine ?? .deviceSync) == .deviceSync || LedgerPlace.stated != nil
            let ledger = hasLedger ? location : .none
            let models = engine.engine == .objectbox ? files.filter(ObjectBoxModel.isModel) : []
            for file in files where !models.contains(file) { try add(schema: file, collections, ledger: ledger) }
            places.add(ledger: ledger, apps: apps)
            if engine.engine != nil, collections.isEmpty, files == models, let database = Settings.current.database {
                let model = try models.first.map(ObjectBoxModel.read) ?? engine.settings()?.model
                if let model {
                    places.add(model.collections(of: database), to: .data)
                } else {
                    places.add([.database(database)], to: .data)
                }
            }
        } else if name == "history" {
            for file in files { places.add(try HistoryPlace(parsing: file).resources) }
        } else {
            for folder in files.compactMap({ JobArgument(argument: $0).folder }) {
                for entry in try JobFolder.read(at: folder, assuming: CheckOptions()).entries {
                    places.add(try entry.job.reach, ledger: location, apps: apps)
                }
            }
            for file in files where JobArgument(argument: file).folder == nil && JobArgument(argument: file).path != nil
            {
                let job = try CompiledJob(reading: try JobFile.read(at: file), assuming: CheckOptions())
                places.add(job.reach, ledger: location, apps: apps)
            }
        }
        if name == "ledger follow" {
            let named: Namespace? = if case .named(let namespace) = location { namespace } else { nil }
            places.add(
                [named ?? Namespace(database: state, collection: WatchOptions().ledger.collection)], to: .watchLedger)
        }
        if let history { places.add(history.resources) }
        if let failures { places.add([failures], to: .failures) }
        let isKnown =
            places.resources[.data] != nil || (name == "history" && places.resources[.history] != nil)
            || name == "ledger show" || Self.ofState.contains(name)
        guard isKnown else {
            throw UsageError(
                "say what \(command) works on: shipshape grants \(command) FILE, or --collection DATABASE.COLLECTION")
        }
    }

    private mutating func add(
        schema file: String, _ collections: [Namespace], ledger: LedgerLocation
    ) throws {
        guard file != LiveSchema.name else {
            isLive = true
            // If the operator names no collection, only the deployment knows which collections have validators, so the
            // role covers every database.
            if collections.isEmpty { for place in [Place.data, .database] { places.add([.anyDatabase], to: place) } }
            return
        }
        let schema = try ServerSchema.read(
            at: file, named: file, namespace: collections.first, database: Settings.current[Known.database])
        let covered = schema.collections.map(\.namespace)
        places.add(collections.isEmpty ? covered : covered.filter(collections.contains), to: .data)
        places.add(ledger: ledger, apps: schema.appID.map { [$0] } ?? [])
    }
}
