package import BSON
import Concurrency
package import JobState
import Mongo

/// Tightens the validator of one collection step by step, and can restore the earlier validator.
///
/// Each step is recorded in the state database before it is done, and the collection is read again after it. If a
/// runner dies during a step, the collection is at the stage before or after the step. The record names the step, and
/// the next runner continues from the stage that it finds.
package struct Enforcement {
    /// The current stage of a collection, with everything that the next step needs.
    package struct State: Sendable {
        /// The stages of the collection, from the validator that it had before the first step to the enforced
        /// validator.
        package let path: EnforcementPath
        /// The stage that the collection has reached on ``path``.
        package let stage: EnforcementStage
        /// The collection's validation and UUID, as they were read.
        package let seen: SeenCollection
        /// The record of the last step in the state database; `nil` if no step was recorded.
        package let record: EnforcementStore.Record?
        /// Whether the next step begins a new enforcement, because none is in progress or the operator asked for a new
        /// one.
        package let isFresh: Bool
    }

    /// How long a runner relies on its record of a step, by its own clock.
    ///
    /// The time is shorter than the time for which the record reserves the collection, so that the runner stops sending
    /// commands before another runner can take over.
    private static let trusted = EnforcementStore.leaseTime - .seconds(10)
    /// How long a runner reserves the collection for the step to "constraint", during which the server reads every
    /// document.
    private static let longLease: Duration = .seconds(600)

    private let namespace: Namespace
    private let store: EnforcementStore
    private let host: any ValidatorHost

    /// Creates an enforcement without reading anything.
    package init(_ namespace: Namespace, store: EnforcementStore, host: some ValidatorHost) {
        (self.namespace, self.store, self.host) = (namespace, store, host)
    }

    /// Reads the stage that the collection has reached.
    /// - Parameters:
    ///   - validator: the validator to enforce; `nil` for the validator of the enforcement in progress or, if none is
    ///     in progress, for the collection's current validator.
    ///   - restarts: whether to begin a new enforcement from the collection's current validator, because the operator
    ///     asked for it.
    ///   - isStatus: whether the caller only shows the stage, and does no step. The enforcement in progress is then
    ///     returned, even if it is for another validator.
    /// - Throws: ``RunError``, for instance if another client changed the collection, or the enforcement of another
    ///   validator is in progress; ``MongoError``.
    package func read(
        for validator: BSONDocument?, restarts: Bool = false, isStatus: Bool = false
    ) throws -> State {
        let record = try store.record()
        let seen = try host.read(namespace)
        guard let record, !restarts, record.step != EnforcementStore.abort || !record.isDone,
            record.uuid == seen.uuid, !Self.isOver(record, seen, for: validator)
        else { return try fresh(validator, seen, record) }
        let path = EnforcementPath(namespace, to: record.validator, from: record.before)
        if record.step == EnforcementStore.abort, !isStatus {
            throw RunError(
                .bindingChanged, "the earlier validator of \(namespace) is being restored: finish that with --abort")
        }
        if let validator, !isStatus, !validator.hasSameFields(as: record.validator) {
            throw RunError(
                .bindingChanged,
                "another validator is being enforced on \(namespace), since \(Self.mark(of: record)): finish that "
                    + "first, restore the earlier validator with --abort, or start from the current one with --restart")
        }
        return State(
            path: path, stage: try stage(of: seen, on: path, record), seen: seen, record: record, isFresh: false)
    }

    /// Takes the collection to the next stage by sending one command.
    /// - Parameter state: the current state, as ``read(for:restarts:isStatus:)`` returned it.
    /// - Throws: ``RunError`` if another runner does the step, if the server refuses it, or if the collection does not
    ///   have the validation of the next stage afterwards; ``MongoError``.
    package func advance(from state: State) throws {
        guard let next = state.stage.next, let command = state.path.command(to: next) else {
            preconditionFailure("the caller checks for the last stage")
        }
        let leaseTime = next == .constraint ? Self.longLease : EnforcementStore.leaseTime
        let begun = try store.begin(
            next.rawValue, after: state.record,
            fresh: state.isFresh ? (state.path.validator, state.path.before, state.seen.uuid) : nil,
            for: leaseTime)
        try change(command, under: begun, trusting: leaseTime - .seconds(10))
        let seen = try host.read(namespace)
        guard seen.uuid == state.seen.uuid, state.path.validation(at: next).isSame(as: seen.validation) else {
            throw Self.foreign(seen, begun, namespace)
        }
        try store.end(begun)
    }

    /// Returns the commands that an abort would run, in order; empty if the earlier validator is already restored.
    /// - Throws: ``RunError`` if there is nothing to restore, or if another client changed the collection;
    ///   ``MongoError``.
    package func readForAbort() throws -> (record: EnforcementStore.Record, commands: [BSONDocument], seen: Validation)
    {
        guard let record = try store.record(), record.step != EnforcementStore.abort || !record.isDone else {
            throw RunError(
                .unknownJob, "enforce has not changed \(namespace): there is nothing to restore")
        }
        let seen = try host.read(namespace)
        let path = EnforcementPath(namespace, to: record.validator, from: record.before)
        guard record.uuid == seen.uuid else {
            let command = path.commandBack(from: seen.validation).flatMap { try? $0.extendedJSON(.relaxed) }
            throw RunError(
                .bindingChanged,
                "\(namespace) was dropped and created again since, or moved"
                    + (command.map { "; if it was moved, restore its earlier validator: db.runCommand(\($0))" }
                        ?? "; it has its earlier validator"))
        }
        _ = try stage(of: seen, on: path, record)
        var (commands, validation) = ([BSONDocument](), seen.validation)
        while let command = path.commandBack(from: validation) {
            commands.append(command)
            if validation.isPrepared {
                validation.isPrepared = false
            } else if validation.level == "constraint", path.before.level != "constraint" {
                validation.level = "strict"
            } else {
                validation = path.before
            }
        }
        return (record, commands, seen.validation)
    }

    /// Restores the validator that the collection had before the first step.
    /// - Returns: the collection's validation afterwards.
    /// - Throws: the errors of ``readForAbort()`` and ``advance(from:)``.
    package func abort() throws -> Validation {
        var (record, commands, seen) = try readForAbort()
        record = try store.begin(EnforcementStore.abort, after: record, fresh: nil)
        let started = ContinuousClock.now
        while let command = commands.first {
            try change(command, under: record, trusting: Self.trusted - started.duration(to: .now))
            let left = commands.count
            (_, commands, seen) = try readForAbort()
            guard commands.count < left else {
                throw RunError(
                    .bindingChanged,
                    "\(namespace) accepted a command but did not change: it is \(Self.words(of: seen))")
            }
        }
        try store.end(record)
        return seen
    }

    /// Sends a command, if it is certain that the record still reserves the collection for this runner.
    /// - Parameter time: how long from now the runner can rely on the record.
    private func change(
        _ command: BSONDocument, under record: EnforcementStore.Record, trusting time: Duration
    ) throws {
        let begun = ContinuousClock.now
        FaultInjection.reached(.beforeWrite)
        guard begun.duration(to: .now) < time else {
            throw RunError(
                .leaseLost,
                "this runner paused too long before it changed \(namespace), and another may change it by now: "
                    + "run it again")
        }
        do {
            try host.change(command, of: namespace)
        } catch let error as MongoError where error.domain == .server && !error.isTransient && !error.isTimeLimit {
            // The server refused the command, so nothing was changed. The record is released, so that the next runner
            // need not wait.
            try? store.leave(record)
            throw Self.refusal(error, of: command, namespace)
        }
        FaultInjection.reached(.afterWrite)
    }
}

// MARK: The current state

extension Enforcement {
    /// Returns the state of a new enforcement, which begins with the collection's current validator.
    private func fresh(
        _ validator: BSONDocument?, _ seen: SeenCollection, _ record: EnforcementStore.Record?
    ) throws -> State {
        // Without a validator from the caller, the stages lead to the collection's current validator.
        guard let validator else {
            let path = EnforcementPath(namespace, to: seen.validation.validator, from: seen.validation)
            return State(path: path, stage: .before, seen: seen, record: record, isFresh: true)
        }
        let path = EnforcementPath(namespace, to: validator, from: seen.validation)
        let stage = path.stage(of: seen.validation) ?? .before
        if stage == .before, seen.validation.isPrepared || seen.validation.level == "constraint" {
            throw RunError(
                .schemaMismatch,
                "MongoDB refuses to change \(namespace) while it is \(Self.words(of: seen.validation)): set "
                    + (seen.validation.isPrepared
                        ? "prepareConstraintValidationLevel to false" : "validationLevel to \"strict\"")
                    + " first")
        }
        return State(path: path, stage: stage, seen: seen, record: record, isFresh: true)
    }

    /// Returns the stage that the collection has reached; throws if the record of the enforcement in the state database
    /// does not allow that stage.
    private func stage(
        of seen: SeenCollection, on path: EnforcementPath, _ record: EnforcementStore.Record
    ) throws -> EnforcementStage {
        if let stage = path.stage(of: seen.validation), Self.allowed(record).contains(stage) { return stage }
        // The collection was read after the record. In between, the runner that reserved the collection may have done a
        // step.
        guard try store.isCurrent(record) else {
            throw RunError(.leaseHeld, "another runner is changing \(namespace): follow it with --status")
        }
        throw Self.foreign(seen, record, namespace)
    }

    /// Whether the recorded enforcement is complete, and `validator` is not the validator that it enforced.
    ///
    /// The result is `false` if the collection no longer has the validation that the recorded enforcement gave it.
    private static func isOver(
        _ record: EnforcementStore.Record, _ seen: SeenCollection, for validator: BSONDocument?
    ) -> Bool {
        guard let validator, !validator.hasSameFields(as: record.validator), record.isDone,
            let stage = EnforcementStage(rawValue: record.step), stage == .error || stage == .constraint
        else { return false }
        let path = EnforcementPath(Namespace(database: "", collection: ""), to: record.validator, from: record.before)
        return path.validation(at: stage).isSame(as: seen.validation)
    }

    /// Returns the stages at which the collection may be according to the record.
    ///
    /// While the recorded step is not done, the collection may be at the stage of the step or at the stage before it.
    /// Once the step is done, only the stage of the step is possible. After an abort has begun, all stages are
    /// possible.
    private static func allowed(_ record: EnforcementStore.Record) -> [EnforcementStage] {
        guard let stage = EnforcementStage(rawValue: record.step) else { return EnforcementStage.allCases }
        return record.isDone ? [stage] : [stage] + [stage.previous].compactMap(\.self)
    }

    private static func foreign(
        _ seen: SeenCollection, _ record: EnforcementStore.Record, _ namespace: Namespace
    ) -> RunError {
        RunError(
            .bindingChanged,
            "another client changed the validator of \(namespace) since \(mark(of: record)): it is "
                + "\(words(of: seen.validation)) now; enforce changed nothing; --restart starts from the current one")
    }

    private static func refusal(
        _ error: MongoError, of command: BSONDocument, _ namespace: Namespace
    ) -> any Error {
        // MongoDB 9.0 reads every document before it sets the level "constraint". Its error names the first document
        // that does not fit.
        if error.code.rawValue == 12_370_902 {
            return RunError(
                .refusedByData, "the server found a document of \(namespace) that does not fit: \(error.message)")
        }
        guard !error.isAuthorization, !error.isAuthentication, !error.isWriteConcern else { return error }
        return RunError(.schemaMismatch, "the server refuses to change \(namespace): \(error.message)")
    }

    /// Returns the time, the step and the operator of a record, for a message.
    private static func mark(of record: EnforcementStore.Record) -> String {
        "\(record.time.map(\.description) ?? "an unknown time") (\(record.step), by \(record.person))"
    }

    /// Returns a short description of a collection's validation, for a message.
    package static func words(of validation: Validation) -> String {
        guard !validation.validator.isEmpty else { return "without a validator" }
        let schema = validation.validator["$jsonSchema"] == nil ? "a validator" : "a $jsonSchema"
        return "at \(schema) with validationLevel \"\(validation.level)\", validationAction \"\(validation.action)\""
            + (validation.isPrepared ? ", prepared for \"constraint\"" : "")
    }
}
