import BSON
import Checking
import Foundation
import Jobs
import JobsSupport
import Planning
import Reporting
import SchemaChange
import ServerSchema
import Testing

/// Tests that every job which `plan` writes is valid by the JSON Schema that editors use.
@Suite struct PlannedJobSchemaTests {
    private static let fixtures =
        "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/") + "/PlanningTests/Fixtures"

    @Test(arguments: try FileManager.default.contentsOfDirectory(atPath: fixtures).sorted())
    func everyPlannedJobIsValidByTheSchemaOfJobs(_ pair: String) throws {
        let folder = try #require(URL(string: NSTemporaryDirectory())).appending(path: "planned-\(UUID().uuidString)")
        try FileManager.default.createDirectory(atPath: folder.path(), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder.path()) }
        let schemas = try ["old", "new"].map { version in
            let target = folder.appending(path: "\(version)/app").path()
            try FileManager.default.createDirectory(
                atPath: folder.appending(path: version).path(), withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: "\(Self.fixtures)/\(pair)/\(version)", toPath: target)
            return try ServerSchema.read(at: folder.appending(path: version).path())
        }
        let plan = try Planner(from: schemas[0], to: schemas[1]).plan()
        let schema = try JobSchema.compiled()
        for collection in plan.collections {
            for job in collection.jobs {
                let file = PlanFile(
                    job, path: nil, old: "old", new: "new", oldPath: "old", newPath: "new", follower: nil)
                let path = folder.appending(path: "\(job.name).yml").path()
                try PlanYAML(file, of: collection).text.write(toFile: path, atomically: true, encoding: .utf8)
                let document = try #require(try ReadyJobs.value(at: path).document)
                #expect(try schema.check(document.view) == .fits, "\(job.name)")
                #expect(try JobFile.read(at: path).steps.count == job.steps.count)
            }
        }
        #expect(!plan.jobs.isEmpty)
    }
}
