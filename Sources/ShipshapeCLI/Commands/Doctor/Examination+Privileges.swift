internal import BSON
internal import Concurrency
internal import Mongo
internal import Privileges
internal import Reporting
internal import Scanning
internal import ServerSchema

/// The privileges of the user for each command.
extension Examination {
    mutating func examinePrivileges(_ pool: ClientPool, _ facts: ServerFacts) async {
        guard let user = facts.privileges else {
            return add(
                .privileges, "all commands", .good, "the deployment asks for no login, or does not show privileges")
        }
        let places: WorkPlaces
        do { places = try await self.places(on: pool) } catch { return add(.privileges, "all commands", error) }
        guard places.resources[.data] != nil else {
            return add(.privileges, "all commands", .warning, "the user \(user.user) sees no database")
        }
        // The other lines show what this command could not examine.
        let lacking = CommandNeeds.all.filter { $0.command != "doctor" }.map { needs in
            (needs, MissingPrivileges(of: user, for: needs, on: places)?.list ?? "")
        }
        let allowed = lacking.filter { $1.isEmpty }.map(\.0.command)
        if !allowed.isEmpty { add(.privileges, "allowed", .good, allowed.joined(separator: ", ")) }
        // Commands that lack the same privileges share one line.
        var kinds: [String] = []
        for (_, missing) in lacking where !missing.isEmpty && !kinds.contains(missing) { kinds.append(missing) }
        for missing in kinds {
            let commands = lacking.filter { $1 == missing }.map(\.0.command)
            let isNeeded = commands.contains("check")
            add(
                .privileges, "lacking", isNeeded ? .error : .warning,
                "\(commands.joined(separator: ", ")): missing \(missing)",
                remedy: "shipshape grants \(isNeeded ? "check" : commands[0]) prints the role", status: .notPermitted)
        }
        examineOptional(user, places, allowed: Set(allowed))
    }

    /// Adds findings about the guarantees that a command does not give because the user lacks optional privileges.
    /// - Parameter allowed: the commands for which the user has all required privileges.
    private mutating func examineOptional(_ user: UserPrivileges, _ places: WorkPlaces, allowed: Set<String>) {
        var lost: [(loss: String, actions: [String], commands: [String])] = []
        for needs in CommandNeeds.all where allowed.contains(needs.command) {
            for need in needs.needs {
                guard let loss = need.loss, let resources = places.resources[need.place] else { continue }
                let missing = need.actions.filter { action in
                    resources.contains { !user.allow(action, on: $0) }
                }
                guard !missing.isEmpty else { continue }
                if let index = lost.firstIndex(where: { $0.loss == loss }) {
                    lost[index].commands.append(needs.command)
                } else {
                    lost.append((loss, missing, [needs.command]))
                }
            }
        }
        for (loss, actions, commands) in lost {
            add(
                .privileges, "optional", commands.contains("check") ? .warning : .notice,
                "\(commands.joined(separator: ", ")): \(loss)",
                remedy: "grant \(actions.joined(separator: ", ")) (shipshape grants \(commands[0]) --full)")
        }
    }

    /// Returns the collections of the schema or, without a schema, all databases that the user sees; the state
    /// database; and the ledger, if the user names it, if there is no schema, or if the schema is one for sync.
    private func places(on pool: ClientPool) async throws -> WorkPlaces {
        let apps = LedgerPlace.apps(of: [schema])
        var places = WorkPlaces(state: StateDatabase.name)
        if schema?.dialect.isOfSync != false || LedgerPlace.stated != nil {
            places.add(ledger: LedgerPlace.location, apps: apps.ids)
        }
        if let schema {
            places.add(schema.collections.map(\.namespace), to: .data)
            return places
        }
        let state = StateDatabase.name
        let databases = try await onOwnedThread(name: "doctor") { () throws in
            try Examination.databases(on: try pool.client(), state: state)
        }
        for place in [Place.data, .database] where !databases.isEmpty {
            places.add(databases.map { .database($0) }, to: place)
        }
        return places
    }
}
