import Testing

@testable import JobState
@testable import Jobs
@testable import Steps

/// Tests that the data that a step loses is reported before the start of the run.
@Suite struct StepLossTests {
    @Test(
        arguments: [
            ("extract: {field: home, to: app.Home, generate: uuid}", "belonged to one document only"),
            ("extract: {field: home, to: app.Home, idFrom: key}", "equal objects with one key become one document"),
            ("embed: {field: dog, from: app.Dog}", "which documents of app.Dog the links of \"dog\" led to"),
            ("map: {field: dog, lookup: app.Map}", "which old value \"dog\" had"),
            ("default: {field: id, generate: uuid, when: missingOrNull}", "whether \"id\" was null or missing"),
            (
                "convert: {field: id, to: uuid, onLoss: allow}",
                "were texts or UUIDs, and how the texts were spelled"
            ),
            ("convert: {field: id, to: uuid, legacy: java}", "which UUIDs had subtype 3"),
            ("convert: {field: id, to: string, from: uuid}", "which values of \"id\" were UUIDs"),
        ])
    func itIsStated(_ step: String, _ loss: String) throws {
        for keepsJournal in [true, false] {
            let notes = try notes(step, keepsJournal: keepsJournal)
            let stated = notes.first { $0.contains(loss) }
            #expect(
                stated?.hasPrefix(keepsJournal ? "only `shipshape undo` can restore: " : "irreversible: ") == true,
                "\(notes)"
            )
        }
    }

    @Test(
        arguments: [
            "embed: {field: dog, from: app.Dog, keep: [_id]}", "embed: {field: dog, from: app.Dog, into: pet}",
            "default: {field: id, generate: uuid}", "convert: {field: id, to: uuid, into: other}",
        ])
    func withoutALossThereIsNoNote(_ step: String) throws {
        let notes = try notes(step, keepsJournal: true)
        #expect(!notes.contains { $0.contains("can restore") }, "\(notes)")
    }

    /// A job has only one note about losses; the note lists everything that the job's steps lose.
    @Test func allLossesOfAJobAreOneNote() throws {
        let steps = "default: {field: id, generate: uuid, when: missingOrNull}\n  - unset: {field: nick}"
        let stated = try notes(steps, keepsJournal: true).filter { $0.contains("can restore") }
        #expect(stated.count == 1)
        #expect(stated.first?.contains("whether \"id\" was null or missing; ") == true, "\(stated)")
    }

    private func notes(_ step: String, keepsJournal: Bool) throws -> [String] {
        let job = try JobFile.parse(
            """
            job: loss
            collection: app.Person
            steps:
              - \(step)
            """, path: "loss.yml")
        return try CompiledJob(job, active: nil, next: nil).notes(keepsJournal: keepsJournal)
    }
}
