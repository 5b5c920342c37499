import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests the flags, the output and the refusals of `shipshape plan`.
@Suite struct PlanCommandTests {
    private static let v1 = DemoApp.folder.appending("v1").string
    private static let v2 = DemoApp.folder.appending("v2").string

    private func withFolder(_ body: (CommandLineFolder) async throws -> Void) async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try await body(folder)
    }

    private func plan(_ flags: String...) async throws -> ProgramRun {
        try await Program.run(
            ["plan", Self.v1, Self.v2] + flags)
    }

    @Test func aJobOnStandardOutputIsThePlanAndNothingElse() async throws {
        let run = try await plan("--collection", "app.Person", "--default", "Person.email=", "--quiet")
        #expect(run.exitCode == 0)
        #expect(run.errors == "")
        #expect(run.output.contains("  - default: {field: email, value: \"\", when: missingOrNull}\n"))
        #expect(run.output.contains("\ncollection: app.Person\n"))
        #expect(!run.output.contains("\n---\n"))
    }

    @Test func noExistingFileIsOverwrittenWithoutForce() async throws {
        try await withFolder { folder in
            let out = folder.path.appending("jobs").string
            #expect(try await plan("--out", out).exitCode == 0)
            let first = try PlanCase.texts(below: folder.path)
            #expect(
                Set(first.keys).isSuperset(of: ["jobs/app.Task.yml", "jobs/after-deploy/app.Task-after-deploy.yml"]))
            let again = try await plan("--out", out, "--default", "Person.email=none")
            #expect(again.exitCode == 73)
            #expect(again.errors.contains("app.Dog.yml already exists"))
            #expect(try PlanCase.texts(below: folder.path) == first)
            #expect(try await plan("--out", out, "--default", "Person.email=none", "--force").exitCode == 0)
            #expect(
                try PlanCase.texts(below: folder.path)["jobs/app.Person.yml"]?.contains("field: email, value: \"none\"")
                    == true)
        }
    }

    @Test(arguments: [
        (
            "Person.email=5",
            "the value has type int, and the newer schema declares string: write --default 'Person.email=\"5\"'"
        ),
        ("Person.age=old", "\"old\" is not JSON, and the newer schema declares int"),
        ("Person.emial=x", "app.Person has no property \"emial\" (did you mean \"email\"?)"),
        ("Persn.email=x", "the newer schema has no such type or collection (did you mean \"Person\"?)"),
        ("email=x", "a type or a collection must come first (write Person.email)"),
        ("Person._id=5", "every document has an _id, which never changes: no default fills it"),
        ("Person.yearsSinceBirth=1.5", "the value has type double, and the newer schema declares int"),
    ])
    func aDefaultThatDoesNotFitIsRefused(_ text: String, _ message: String) async throws {
        let run = try await plan("--default", text)
        #expect(run.exitCode == 64)
        #expect(run.output == "")
        #expect(run.errors == "shipshape: --default \(text.prefix { $0 != "=" })=…: \(message)\n")
    }

    @Test(arguments: [["--default", "email"], ["--force"], ["--collection", "Person"]])
    func wrongUseEndsWith64(_ flags: [String]) async throws {
        let run = try await Program.run(["plan", Self.v1, Self.v2] + flags)
        #expect(run.exitCode == 64)
        #expect(run.output == "")
    }

    @Test func aRenameThatTheSchemasDoNotBearOutIsRefused() async throws {
        let run = try await plan("SHIPSHAPE_RENAMES=Person.age=yearsSinceBirth")
        #expect(run.exitCode == 64)
        #expect(run.errors.hasPrefix("shipshape: rename \"Person.age=yearsSinceBirth\": "))
    }

    @Test func reviewsAreNoFindings() async throws {
        #expect(try await plan("--quiet").exitCode == 0)
    }

    @Test func aChangeThatNoJobCanServeIsAFinding() async throws {
        try await withFolder { folder in
            let schema = { (type: String) in
                #"{"title":"A","bsonType":"object","required":["_id"],"properties":{"_id":{"bsonType":"\#(type)"}}}"#
            }
            let old = try folder.write(schema("int"), to: "old.json")
            let new = try folder.write(schema("string"), to: "new.json")
            let arguments = ["plan", old, new, "--collection", "app.A"]
            let run = try await Program.run(arguments)
            #expect(run.exitCode == 1)
            #expect(run.errors.contains("id-type-changed"))
            #expect(run.errors.contains("make a partner collection"))
            #expect(run.output.contains("\npartner: AV2\nsource: app.A\ntarget: app.AV2\n"), "\(run.output)")
        }
    }

    @Test func collectionsOfOnlyOneSchemaAreReported() async throws {
        try await withFolder { folder in
            let schema = { (title: String) in
                #"{"title":"\#(title)","bsonType":"object","required":["_id","n"],"#
                    + #""properties":{"_id":{"bsonType":"int"},"n":{"bsonType":"int"}}}"#
            }
            try folder.write(schema("Gone"), to: "old/app/Gone/schema.json")
            try folder.write(schema("Come"), to: "new/app/Come/schema.json")
            let run = try await Program.run(
                ["plan", folder.path.appending("old").string, folder.path.appending("new").string])
            #expect(run.exitCode == 1)
            #expect(run.output.contains("type-removed") && run.output.contains("keep the type on the server"))
            #expect(run.output.contains("type-added"))
        }
    }

    /// Runs `plan` for the collection `app.A` with two schemas.
    ///
    /// `old` and `new` are the JSON members of the two schemas, without the members `title` and `bsonType`.
    private func planTwo(_ old: String, _ new: String, _ flags: [String] = []) async throws -> ProgramRun {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let text = { (parts: String) in #"{"title":"A","bsonType":"object",\#(parts)}"# }
        let (old, new) = (try folder.write(text(old), to: "old.json"), try folder.write(text(new), to: "new.json"))
        return try await Program.run(
            ["plan", old, new, "--collection", "app.A"] + flags)
    }

    private static let optional =
        #""required":["_id"],"properties":{"_id":{"bsonType":"int"},"n":{"bsonType":"int"}}"#
    private static let required =
        #""required":["_id","n"],"properties":{"_id":{"bsonType":"int"},"n":{"bsonType":"int"}}"#

    @Test func aBreakingDeployHasItsOrderOfWorkThoughNoSecondJobFollows() async throws {
        let breaking = try await planTwo(Self.optional, Self.required)
        let head = breaking.output.replacing("\n# ", with: " ")
        #expect(head.contains("a breaking change: stop old clients or let them upload, terminate sync"), "\(head)")
        #expect(head.contains("run this job again, save the new schema, enable sync again"))
        let empty = #""required":["_id"],"properties":{"_id":{"bsonType":"int"}}"#
        let additive = try await planTwo(empty, Self.required)
        #expect(additive.output.contains("3. Run this job again"), "\(additive.output)")
    }

    @Test func aJobOfAnEarlierPlanIsNotKeptNextToTheNewOnes() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let out = folder.path.appending("jobs").string
        let text = #""required":["_id"],"properties":{"_id":{"bsonType":"int"},"n":{"bsonType":"string"}}"#
        #expect(try await planTwo(text, Self.required, ["--out", out]).exitCode == 0)
        let late = "jobs/after-deploy/app.A-after-deploy.yml"
        try folder.write("job: mine\n", to: "jobs/after-deploy/app.B-after-deploy.yml")
        #expect(folder.text(of: late) != nil)
        let refused = try await planTwo(Self.optional, Self.required, ["--out", out])
        #expect(refused.exitCode == 73)
        #expect(refused.errors.contains("app.A-after-deploy.yml is from an earlier plan"), "\(refused.errors)")
        let forced = try await planTwo(Self.optional, Self.required, ["--out", out, "--force"])
        #expect(forced.exitCode == 0)
        #expect(forced.errors.contains("removed "), "\(forced.errors)")
        #expect(folder.text(of: late) == nil)
        #expect(folder.text(of: "jobs/app.A.yml") != nil)
        #expect(folder.text(of: "jobs/after-deploy/app.B-after-deploy.yml") != nil)
    }

    @Test func namesThatSteerATerminalAreReported() async throws {
        let field = { (type: String) in
            #""required":["_id"],"properties":{"_id":{"bsonType":"int"},"a\u001b[31m":{"bsonType":"\#(type)"}}"#
        }
        let run = try await planTwo(field("int"), field("objectId"), [])
        #expect(run.output.contains("a\\u001b[31m"), "\(run.output)")
        #expect(!(run.output + run.errors).contains("\u{1B}"))
    }

    @Test func theCommandNamesItsOptions() async throws {
        let run = try await Program.run(["plan", "--help"])
        #expect(run.output.contains("USAGE: shipshape plan [<options>] (<schema> | <old> <new> | --engine <engine>)"))
        for line in [
            "--out <folder>", "--force", "--collection <db.collection>", "--default <type.field=value>",
            "--strict", "--combine <old,old=new>", "--split <old=new,new>", "--embed <old>", "--show-values",
        ] {
            #expect(run.output.contains("  \(line)"), "\(line)")
        }
    }
}
