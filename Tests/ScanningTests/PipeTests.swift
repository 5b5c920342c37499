import BSON
import Checking
import Scanning
import ServerSchema
import SystemPackage
import Testing

/// Tests the check of a source that can be read only once, such as `<(mongoexport …)` in a shell.
@Suite struct PipeTests {
    /// Checks documents that have been written to a pipe, for an engine that compares the texts of `_id`s.
    private func scan(_ lines: String) throws -> (findings: SourceFindings, path: String) {
        var check = CheckOptions()
        check.engine = EngineSettings(.powersync)
        let schema = try ServerSchema.read(
            text: #"{ "bsonType": "object" }"#, namespace: Namespace(database: "app", collection: "Task"))
        let (reading, writing) = try FileDescriptor.pipe()
        try writing.closeAfter { _ = try writing.writeAll(lines.utf8) }
        let path = "/dev/fd/\(reading.rawValue)"
        let part = SourceScan.Part(CompiledSchema(schema.collections[0], options: check), ScanOptions())
        return (try reading.closeAfter { try SourceScan([part], source: path).run() }, path)
    }

    @Test func aNoteSaysThatEqualTextsWereNotLookedFor() throws {
        let (findings, path) = try scan(#"{"_id": 1}\#n{"_id": "1"}\#n"#)
        #expect(findings.tallies[0].counts.read == 2)
        let note =
            "app.Task: _ids with the text of another one were not looked for, because \(path) can be read only once"
        #expect(findings.facts.notes.contains(note), "\(findings.facts.notes)")
    }

    @Test func idsThatCannotHaveEqualTextsNeedNoNote() throws {
        let (findings, _) = try scan(#"{"_id": 1}\#n{"_id": 2}\#n"#)
        #expect(!findings.facts.notes.contains { $0.contains("not looked for") }, "\(findings.facts.notes)")
    }
}
