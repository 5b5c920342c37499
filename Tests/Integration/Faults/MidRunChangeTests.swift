import BSON
import Glibc
import TestSupport
import Testing

/// While a command runs, another client drops or renames its collection, sets a validator on it, or drops the command's
/// state.
///
/// The command says what happened and how to continue. After the change is undone, another run finishes the work.
@Suite struct MidRunChangeTests {
    /// A change that another client makes to the command's collection or database.
    enum Change: CaseIterable, Sendable {
        case drop, dropAndCreate, rename, swap, dropDatabase

        func happen(to collection: String, in database: TestDatabase) async throws {
            switch self {
            case .drop: try await database.run(["drop": .string(collection)])
            case .dropAndCreate:
                try await database.run(["drop": .string(collection)])
                try await database.fill(collection, [["_id": 1, "priority": "1"]])
            case .rename: try await rename(collection, to: "elsewhere", in: database)
            case .swap:
                try await rename(collection, to: "elsewhere", in: database)
                try await database.fill(collection, [["_id": 1, "priority": "1"]])
            case .dropDatabase: try await database.run(["dropDatabase": 1])
            }
        }

        /// Renames the collection back if the change renamed it; drops a collection that has taken its name.
        /// - Returns: `false` if the change dropped the collection, which cannot be restored.
        func mend(_ collection: String, in database: TestDatabase) async throws -> Bool {
            switch self {
            case .drop, .dropAndCreate, .dropDatabase: return false
            case .swap: try await database.run(["drop": .string(collection)])
            case .rename: break
            }
            try await rename("elsewhere", to: collection, in: database)
            return true
        }

        private func rename(_ name: String, to other: String, in database: TestDatabase) async throws {
            try await Mongod.shared.admin([
                "renameCollection": .string("\(database.name).\(name)"), "to": .string("\(database.name).\(other)"),
            ])
        }

        var leavesAnother: Bool { self == .dropAndCreate || self == .swap }

        /// The name of the change in the table that `FaultTable` prints.
        var row: String {
            switch self {
            case .drop, .dropDatabase: "the collection is dropped"
            case .dropAndCreate: "the collection is dropped and created again"
            case .rename, .swap: "the collection is renamed"
            }
        }

        /// A part of the error message that the program shows because of the change.
        var said: String {
            switch self {
            case .drop, .dropDatabase:
                "was dropped while the job ran; to run over another collection, give the job a new name"
            case .dropAndCreate: "was moved, or dropped and created again, while the job ran; if it was moved"
            case .rename, .swap: "elsewhere while the job ran; rename it back and run it again"
            }
        }
    }

    /// Stops the program at a fault point, makes a change, and lets the program continue.
    private func disturbed(
        _ trial: FaultTrial, at place: String, _ change: () async throws -> Void
    ) async throws -> ProgramRun {
        try await trial.run(fault: place) { program in
            try await waitUntil("the program is held at \(place)") { try program.isStopped }
            try await change()
            program.send(SIGCONT)
        }
    }

    private func expectEnd(
        _ subject: FaultSubject, _ trial: FaultTrial, after run: ProgramRun, _ expected: [BSONDocument]
    ) async throws {
        let next = try await trial.run()
        #expect([0, 1].contains(next.exitCode), "\(subject.name): \(next.status): \(next.errors)")
        let (end, wanted) = (try await trial.outcome(next).withoutPasses, expected.withoutPasses)
        #expect(end == wanted, "\(subject.name): \(difference(end, wanted))\n\(run.errors)\(run.output)")
    }

    /// Returns the fault points at which a change is made: before a write, and between a chunk and the next read.
    private static func places(of subject: FaultSubject) -> [String] {
        let places = [
            "before-write:2:stop", subject.name == "undo" ? "after-restore:1:stop" : "after-checkpoint:1:stop",
        ]
        return TestScale.pick([places[subject.name == "undo" ? 1 : 0]], full: places, torture: places)
    }

    @Test(arguments: [FaultSubject.backfill, .undo], Change.allCases)
    func aCollectionThatGoesDuringARunEndsIt(_ subject: FaultSubject, _ change: Change) async throws {
        let mongod = try await Mongod.shared
        let expected = try await subject.undisturbed(on: mongod)
        for place in Self.places(of: subject) {
            try await subject.trial(mongod) { trial in
                let run = try await disturbed(trial, at: place) {
                    try await change.happen(to: "tasks", in: trial.database)
                }
                #expect(run.exitCode == 65, "\(place): \(run.status): \(run.errors)\(run.output)")
                #expect(run.errors.contains(change.said), "\(place): \(run.errors)")
                let left = try await trial.database.documents("tasks")
                #expect(left == (change.leavesAnother ? [["_id": 1, "priority": "1"]] : []))
                if try await change.mend("tasks", in: trial.database) {
                    try await expectEnd(subject, trial, after: run, expected)
                } else {
                    let next = try await trial.run()
                    #expect(next.exitCode == 65, "\(next.status): \(next.errors)")
                }
            }
            FaultTable.note(subject, change.row, tries: 1, continued: 0)
        }
    }

    /// If another client sets a validator during a command, the command lists the documents that the validator refuses.
    ///
    /// The validator requires a string for the field in which the job writes an `int`, or an `int` where undo writes a
    /// string.
    @Test(arguments: [(FaultSubject.backfill, "string"), (FaultSubject.undo, "int")])
    func aValidatorThatRefusesWhatIsWrittenListsIt(_ subject: FaultSubject, _ type: String) async throws {
        let mongod = try await Mongod.shared
        let expected = try await subject.undisturbed(on: mongod)
        try await subject.trial(mongod) { trial in
            let run = try await disturbed(trial, at: "before-write:2:stop") {
                try await trial.database.run([
                    "collMod": "tasks", "validator": ["priority": ["$type": .string(type)]],
                ])
            }
            #expect(run.exitCode == 1, "\(run.status): \(run.errors)\(run.output)")
            let said = subject.name == "undo" ? "refused by the collection's validator: 8" : "(code 121): "
            #expect(run.output.contains(said), "\(run.errors)\(run.output)")
            try await trial.database.run(["collMod": "tasks", "validator": [:]])
            try await expectEnd(subject, trial, after: run, expected)
        }
        FaultTable.note(subject, "a validator is switched on", tries: 1, continued: 0)
    }

    /// Another client drops the indexes of the state collection `harm`, which has the reservations of the unsync
    /// budget.
    ///
    /// The runner then sums up the reservations without an index.
    @Test(arguments: [FaultSubject.backfill, .undo]) func anIndexOfTheStateThatGoesCostsNothing(_ subject: FaultSubject)
        async throws
    {
        let mongod = try await Mongod.shared
        let expected = try await subject.undisturbed(on: mongod)
        try await subject.trial(mongod) { trial in
            let run = try await disturbed(trial, at: "before-write:2:stop") {
                try await trial.state.run(["dropIndexes": "harm", "index": "*"])
            }
            #expect(run.exitCode == 0, "\(run.status): \(run.errors)\(run.output)")
            let end = try await trial.outcome(run)
            #expect(end == expected, "\(subject.name): \(difference(end, expected))")
        }
        FaultTable.note(subject, "an index of the state is dropped", tries: 1, continued: 1)
    }

    // MARK: Changes of the state database during a command

    /// The journal, or the record of the job, is dropped during a run, which ends when it notices the drop.
    ///
    /// The undo restores the chunks that were journaled after the drop, and reports that the other chunks have no
    /// journal.
    @Test(arguments: ["journal", "jobs"]) func aRunWhoseStateGoesIsNotDone(_ collection: String) async throws {
        try await FaultSubject.backfill.trial(try await Mongod.shared) { trial in
            let run = try await disturbed(trial, at: "before-write:2:stop") {
                try await trial.state.run(["drop": .string(collection)])
            }
            #expect(run.exitCode == 65, "\(run.status): \(run.errors)\(run.output)")
            #expect(run.errors.contains("the \(collection == "jobs" ? "record" : "journal") of job"), "\(run.errors)")
            guard collection == "journal" else { return }
            let undone = try await trial.runUndo()
            #expect(undone.exitCode == 1, "\(undone.status): \(undone.errors)\(undone.output)")
            #expect(undone.output.contains("the journal is incomplete: 1 of "), "\(undone.output)")
        }
        FaultTable.note(.backfill, "its state is dropped", tries: 1, continued: 0)
    }

    /// If the journal or the whole state database is dropped during an undo, the undo reports the drop and fails.
    @Test(arguments: ["journal", nil]) func anUndoWhoseJournalGoesIsNotDone(_ collection: String?) async throws {
        try await FaultSubject.undo.trial(try await Mongod.shared) { trial in
            let run = try await disturbed(trial, at: "before-write:2:stop") {
                try await trial.state.run(collection.map { ["drop": .string($0)] } ?? ["dropDatabase": 1])
            }
            #expect(run.exitCode == 65, "\(run.status): \(run.errors)\(run.output)")
            let said = collection == nil ? "was deleted from database" : "its journal was dropped while it ran"
            #expect(run.errors.contains(said), "\(run.errors)")
            #expect(try await trial.run().exitCode == 65)
        }
        FaultTable.note(.undo, "its state is dropped", tries: 1, continued: 0)
    }

    @Test func anUndoThatIsForgottenBeginsAgain() async throws {
        let mongod = try await Mongod.shared
        let expected = try await FaultSubject.undo.undisturbed(on: mongod)
        try await FaultSubject.undo.trial(mongod) { trial in
            let run = try await disturbed(trial, at: "before-write:2:stop") {
                try await trial.state.run(["drop": "ranges"])
            }
            #expect(run.exitCode == 65, "\(run.status): \(run.errors)\(run.output)")
            #expect(run.errors.contains("undo it again"), "\(run.errors)")
            try await expectEnd(.undo, trial, after: run, expected)
        }
        FaultTable.note(.undo, "its state is dropped", tries: 1, continued: 0)
    }

    @Test(arguments: Change.allCases) func aFolderWhoseCollectionGoesIsNotApplied(_ change: Change) async throws {
        let subject = FaultSubject.folder
        let mongod = try await Mongod.shared
        let expected = try await subject.undisturbed(on: mongod)
        try await subject.trial(mongod) { trial in
            let run = try await disturbed(trial, at: "before-write:2:stop") {
                try await change.happen(to: "people", in: trial.database)
            }
            #expect(run.exitCode == 65, "\(run.status): \(run.errors)\(run.output)")
            #expect(run.errors.contains(change.said), "\(run.errors)")
            #expect(try await trial.state.count("migrations") == 0)
            if try await change.mend("people", in: trial.database) {
                try await expectEnd(subject, trial, after: run, expected)
            }
        }
        FaultTable.note(subject, change.row, tries: 1, continued: 0)
    }
}

extension FaultTrial {
    /// Runs the undo of the command's job.
    fileprivate func runUndo() async throws -> ProgramRun {
        try await Program.run(["undo"] + arguments.dropFirst() + ["--uri", uri])
    }
}
