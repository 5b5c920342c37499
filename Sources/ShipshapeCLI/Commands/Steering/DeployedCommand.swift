internal import ArgumentParser
internal import Backfill
internal import Concurrency
internal import Jobs
internal import Reporting
internal import Steps

/// The command `shipshape job deployed JOB`, which records that the job's next schema is now the active schema.
struct DeployedCommand: WritingCommand {
    static let configuration = CommandConfiguration(
        "job deployed", "<job>",
        abstract: "Records that a job's next schema is now the active one.",
        examples: [
            "job deployed jobs/app.person.yml",
            "job deployed person-v2 --revoke",
        ],
        details: """
            From then on, documents that do not fit the next schema count as unsyncable; a runner applies this within \
            a chunk. The job's text stays as it is. If the collection has a validator and the job's file is given, the \
            two are compared; otherwise your word is taken, and the output and the record say so.

            Run it only once clients sync under the next schema: before that, documents would become unsyncable \
            without being counted.
            """)

    @Argument(help: "The job's name, or its file.")
    var job: JobArgument

    @Flag(name: .shortAndLong, help: "Record it without asking.")
    var yes = false

    @Flag(help: "Remove the record, because the deploy was reverted.")
    var revoke = false

    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Connection") var protection: ProtectionFlags

    func work() throws -> Work {
        let (name, file) = (try job.name, try job.file)
        return Work { frame in
            let registry = try await frame.registry(for: "job deployed")
            guard !revoke else {
                let was = try await onOwnedThread(name: "state") { () throws in try registry.revokeDeploy(name) }
                return .text(
                    was
                        ? "job \(name): the active schema of its file decides again which documents sync"
                        : "job \(name) has no recorded deploy: nothing changed")
            }
            let next = try file?.schema(at: file?.nextSchema)
            let evidence = try await onOwnedThread(name: "state") { () throws in
                try registry.deployEvidence(of: name, next: next)
            }
            try confirm(evidence)
            try await onOwnedThread(name: "state") { () throws in try registry.deployed(name, by: evidence) }
            let freed = try await onOwnedThread(name: "state") { () throws in try registry.freeRoom(of: name) } ?? 0
            let (fit, their) = freed == 1 ? ("fits", "its") : ("fit", "their")
            let room =
                "; \(freed.documents) \(fit) it, and will free \(their) room below the limit when the ledger "
                + "is up to date"
            let command = job.path.map { ": \(NextCommand("backfill", [$0]))" } ?? ""
            return .text(
                "job \(name): recorded: the new schema is live, \(Self.text(evidence))"
                    + "\(freed == 0 ? "" : room); run the job again\(command)")
        }
    }

    private func confirm(_ evidence: DeployEvidence) throws {
        guard case .word(let reason) = evidence, !yes else { return }
        Console.error("the deploy cannot be verified: \(reason)")
        try Console.confirm(
            "Is the new schema live?", orElse: "nothing was recorded",
            offTerminal: "job deployed needs --yes when the deploy cannot be verified")
    }

    private static func text(_ evidence: DeployEvidence) -> String {
        switch evidence {
        case .validator: "as the collection's validator says"
        case .word(let reason): "not verified (\(reason))"
        }
    }
}
