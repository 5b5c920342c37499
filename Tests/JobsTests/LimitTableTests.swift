import BSON
import Foundation
import JobsSupport
import Testing

@testable import Jobs

/// Tests that the program's table of limits agrees with the JSON Schema of job files and with the documentation.
@Suite struct LimitTableTests {
    /// Returns the definition of a limit in `jobs/job.schema.json`; `nil` if there is none.
    private func definition(of name: String) throws -> BSONDocument? {
        var schema = try JobSchema.document()["properties"]?.document?["limits"]?.document
        for key in name.split(separator: ".") {
            var properties = schema?["properties"]?.document
            // If a group of limits can be `off`, its schema has alternatives in `anyOf`. One of the alternatives has
            // the group's properties.
            for form in schema?["anyOf"]?.document?.values ?? [] where properties == nil {
                properties = form.document?["properties"]?.document
            }
            schema = properties?[String(key)]?.document
        }
        return schema
    }

    @Test(arguments: Limit.all.map(\.name)) func theSchemaStatesItsDefault(_ name: String) throws {
        let limit = try #require(Limit.named(name))
        let stated = try #require(try definition(of: name)?["default"])
        let text = "job: a\ncollection: b.c\nsteps: [copy: {from: d, to: e}]\nlimits: "
        let value = stated.text.map { "\"\($0)\"" } ?? stated.integer.map { "\($0)" } ?? ""
        let nested = name.split(separator: ".").reversed().reduce(value) { "{\($1): \($0)}" }
        let job = try JobFile.parse(text + nested, path: "j.yml")
        #expect(limit.text(in: job.limits) == limit.text(in: Job.Limits()))
    }

    @Test func theSchemaNamesEveryLimitAndNoOther() throws {
        let limits = try #require(try JobSchema.document()["properties"]?.document?["limits"]?.document)
        let names = try #require(try limits["properties"]?.document?.elements().map(\.name))
        #expect(Set(names) == Set(Limit.topLevelKeys))
    }

    @Test(arguments: Limit.all.map(\.name)) func thePageOfTheFormatNamesItAndItsDefault(_ name: String) throws {
        let page = try String(contentsOfFile: "\(ReadyJobs.folder)/FORMAT.md", encoding: .utf8)
        let keys = name.split(separator: ".").map(String.init)
        let row = try #require(page.split(separator: "\n").first { $0.hasPrefix("| `\(keys[0])` |") })
        let fallback = try #require(Limit.named(name)).text(in: Job.Limits())
        // The documentation may also spell one minute as 60s.
        let spelled = [fallback, fallback == "1m" ? "60s" : fallback]
        let isStated = spelled.contains { text in
            keys.count == 1 ? row.hasPrefix("| `\(name)` | \(text) |") : row.contains("`\(keys[1])` (\(text))")
        }
        #expect(isStated, "\(row)")
    }

    @Test func aFormerNameIsRead() throws {
        let head = "job: a\ncollection: b.c\nsteps: [copy: {from: d, to: e}]\nlimits: "
        let job = try JobFile.parse(head + "{lanes: 5}", path: "j.yml")
        #expect(job.limits.entries.first { $0.name == "concurrency" }?.value == "5")
        #expect(
            Fixture.failure { try JobFile.parse(head + "{lanes: 5, concurrency: 4}", path: "j.yml") }
                == "j.yml:4:17: \"lanes\" is the former name of \"concurrency\": give one of them")
    }

    @Test(arguments: ["lanes", "concurrency"], ["lanes", "concurrency"])
    func anOverrideReplacesEitherName(_ stated: String, _ overriding: String) throws {
        let head = "job: a\ncollection: b.c\nsteps: [copy: {from: d, to: e}]\nlimits: "
        let job = try JobFile.parse(head + "{\(stated): 5}", path: "j.yml")
        let limits = try job.limits(overriddenBy: [LimitOverride(name: overriding, value: "3")])
        #expect(limits.entries.first { $0.name == "concurrency" }?.value == "3")
    }
}
