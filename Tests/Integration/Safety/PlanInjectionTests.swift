import BSON
import Jobs
import TestSupport
import Testing

/// A name with a line break, which `plan` writes into a comment of a job file, adds no key to the job.
@Suite struct PlanInjectionTests {
    @Test(arguments: ["\u{2028}", "\u{2029}", "\u{85}", "\n", "\r"], ["journal: false #", "limits: {lanes: 16} #"])
    func aNameInACommentBeginsNoLine(_ end: String, _ key: String) async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let name = "people\(end)\(key)"
        func schema(_ more: String, required: String) -> String {
            """
            {"title": "Person", "bsonType": "object", "required": ["_id"\(required)],
             "properties": {"_id": {"bsonType": "string"}\(more)}}
            """
        }
        try folder.write(schema("", required: ""), to: "old.json")
        let field = "email\(end)\(key)".quotedAsJSON
        try folder.write(
            schema(#", \#(field): {"bsonType": "string"}"#, required: ", \(field)"), to: "new.json")
        for out in [[], ["--out", "jobs"]] {
            let run = try await Program.run(
                ["plan", "old.json", "new.json", "--collection", "app.\(name)"] + out,
                in: folder.path)
            #expect(run.exitCode == 0, "\(run.errors)")
            guard out.isEmpty else { continue }
            let job = try JobFile.parse(run.output, path: "job.yml")
            #expect(job.keepsJournal)
            #expect(job.limits.concurrency == 2)
            #expect(job.namespace.collection == name)
            #expect(run.output.contains("default: "))
        }
    }
}
