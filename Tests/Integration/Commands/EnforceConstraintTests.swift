import BSON
import Enforcing
import JobState
import Mongo
import TestSupport
import Testing

/// Tests the last stages of `enforce`, up to "constraint", with a stand-in for MongoDB 9.0.
///
/// No such server is available, so the stand-in follows MongoDB's documentation. Before a collection can change to the
/// level "constraint", it must be prepared and have the level "strict" and the action "error", and all its documents
/// must fit. The validator cannot be changed during the preparation. At the level "constraint", it can be changed only
/// by a command that also sets the level "strict".
@Suite struct EnforceConstraintTests {
    /// A stand-in for a collection of MongoDB 9.0, which accepts and refuses `collMod` commands as documented.
    private final class FakeHost: ValidatorHost {
        var validation: Validation
        var fits = true

        init(_ validation: Validation) { self.validation = validation }

        func read(_ namespace: Namespace) -> SeenCollection { SeenCollection(validation, uuid: "the same") }

        func change(_ command: BSONDocument, of namespace: Namespace) throws {
            var next = validation
            if let validator = command["validator"]?.document {
                let isBound = validation.isPrepared || validation.level == "constraint"
                guard !isBound || command["validationLevel"]?.text == "strict" && !validation.isPrepared else {
                    throw refusal(72, "the rules cannot be changed")
                }
                next.validator = validator
            }
            next.level = command["validationLevel"]?.text ?? next.level
            next.action = command["validationAction"]?.text ?? next.action
            if let isPrepared = command["prepareConstraintValidationLevel"]?.isTrue { next.isPrepared = isPrepared }
            if next.level == "constraint", validation.level != "constraint" {
                guard validation.isPrepared, validation.level == "strict", next.action == "error",
                    command["validator"] == nil
                else { throw refusal(72, "not prepared") }
                guard fits else { throw refusal(12_370_902, "Cannot upgrade validationLevel to 'constraint'") }
                next.isPrepared = false
            }
            validation = next
        }

        private func refusal(_ code: Int, _ message: String) -> MongoError {
            MongoError(.server, MongoError.Code(rawValue: code), message: message)
        }
    }

    /// Runs a test with a stand-in that has the given validation, and with the `Enforcement` that changes it.
    private func with(_ before: Validation, _ body: @Sendable @escaping (FakeHost, Enforcement) throws -> Void)
        async throws
    {
        try await Mongod.shared.withDatabase { state in
            try await state.pool.withClient { [name = state.name, pool = state.pool] _ throws(MongoError) in
                do {
                    let client = StoreClient(database: name, client: try pool.client())
                    let namespace = Namespace(database: "app", collection: "people")
                    let host = FakeHost(before)
                    try body(
                        host, Enforcement(namespace, store: EnforcementStore(namespace, client: client), host: host))
                } catch {
                    Issue.record("\(error)")
                }
            }
        }
    }

    private static let before = Validation(BackfillCase.earlier, level: "moderate", action: "warn")

    /// Advances the enforcement step by step until it reaches a stage.
    private static func go(_ enforcement: Enforcement, to stage: EnforcementStage) throws {
        while true {
            let state = try enforcement.read(for: BackfillCase.validator)
            guard state.stage < stage else {
                #expect(state.stage == stage)
                return
            }
            try enforcement.advance(from: state)
        }
    }

    @Test(arguments: EnforcementStage.allCases.dropFirst())
    func enforcementReachesConstraintAndCanBeAbortedFromAnyStage(_ stage: EnforcementStage) async throws {
        try await with(Self.before) { host, enforcement in
            try Self.go(enforcement, to: stage)
            #expect(host.validation.validator == BackfillCase.validator)
            #expect(host.validation.level == (stage == .constraint ? "constraint" : "strict"))
            #expect(host.validation.isPrepared == (stage == .prepared))
            let back = try enforcement.abort()
            #expect(back.isSame(as: Self.before))
            #expect(host.validation.isSame(as: Self.before))
        }
    }

    @Test func aDocumentThatTheServerFindsStopsTheLastStepAndTheNextRunDoesIt() async throws {
        try await with(Self.before) { host, enforcement in
            try Self.go(enforcement, to: .prepared)
            host.fits = false
            let state = try enforcement.read(for: BackfillCase.validator)
            let refused = #expect(throws: RunError.self) { try enforcement.advance(from: state) }
            #expect(refused?.kind == .refusedByData)
            #expect(try enforcement.read(for: BackfillCase.validator).stage == .prepared)
            host.fits = true
            try Self.go(enforcement, to: .constraint)
        }
    }

    @Test func aCollectionThatIsAtConstraintIsNotToBeChangedUnasked() async throws {
        try await with(Validation(BackfillCase.earlier, level: "constraint")) { host, enforcement in
            let refused = #expect(throws: RunError.self) { try enforcement.read(for: BackfillCase.validator) }
            #expect(refused?.kind == .schemaMismatch)
            #expect(host.validation.validator == BackfillCase.earlier)
        }
    }
}
