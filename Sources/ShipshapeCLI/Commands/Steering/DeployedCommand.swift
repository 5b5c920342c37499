internal import ArgumentParser
internal import Backfill
internal import Concurrency
internal import Jobs
internal import Mongo
internal import Reporting
internal import Steps

/// `shipshape deployed JOB`.
struct DeployedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deployed",
        abstract: "Records that a job's next schema is now the active one.",
        discussion: """
            From then on the job counts as harmed what does not fit the next schema; a runner takes it over within a \
            chunk. The job's text stays as it was. Where the collection carries a validator, and the job's file is \
            given, the two are compared; else it is taken on your word, which is said and recorded.

            Say it only once clients sync under the next schema: said too early, documents become unsyncable uncounted.
            """)

    @Argument(help: "The job's name, or its file.")
    var job: JobArgument

    @Flag(name: .shortAndLong, help: "Record it without asking.")
    var yes = false

    @Flag(help: "Take the record back: the deploy itself was taken back.")
    var revoke = false

    @OptionGroup(title: "State") var state: StateFlags
    @OptionGroup(title: "Connection") var connection: ConnectionFlags

    func run() async throws {
        let (name, file, registry) = (
            try job.name, try job.file, try await state.registry(connection, for: "deployed")
        )
        guard !revoke else {
            let was = try await onOwnedThread(name: "state") { () throws in try registry.revokeDeploy(name) }
            return try Console.show(
                was
                    ? "job \(name): harm is judged by the active schema of its file again"
                    : "job \(name) has no deploy on record: nothing changed")
        }
        let next = try file?.schema(at: file?.nextSchema)
        let evidence = try await onOwnedThread(name: "state") { () throws in
            try registry.deployEvidence(of: name, next: next)
        }
        try confirm(evidence)
        try await onOwnedThread(name: "state") { () throws in try registry.deployed(name, by: evidence) }
        let freed = try await onOwnedThread(name: "state") { () throws in try registry.freeRoom(of: name) } ?? 0
        try Console.show(
            "job \(name): the next schema is recorded as the active one, \(Self.text(evidence))"
                + (freed == 0
                    ? ""
                    : "; \(freed.documents) fit\(freed == 1 ? "s" : "") it, and take\(freed == 1 ? "s" : "") no room below the limit once the ledger had its time")
        )
    }

    private func confirm(_ evidence: DeployEvidence) throws {
        guard case .word(let reason) = evidence, !yes else { return }
        Console.error("it cannot be verified: \(reason)")
        try Console.confirm(
            "Do clients sync under the next schema now?", orElse: "nothing was recorded",
            offTerminal: "deployed needs --yes where it goes by your word")
    }

    private static func text(_ evidence: DeployEvidence) -> String {
        switch evidence {
        case .validator: "as the collection's validator says"
        case .word(let reason): "on your word (\(reason))"
        }
    }
}
