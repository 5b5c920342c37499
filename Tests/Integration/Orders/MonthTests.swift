import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Plays a month of a Prisma project and of an App Services app, with pull requests, nightly checks, breaking changes
/// and a rollback: no command refuses the path that the program itself proposes, and no client fails to read.
///
/// The transcript is `docs/guide/month.md`. `scripts/month` writes it.
@Suite(.enabled(if: FakeClock.library != nil, "scripts/setup --tests installs libfaketime"))
struct MonthTests {
    private typealias Field = PrismaClient.Field

    private static func schema(_ lines: String...) -> String {
        """
        datasource db {
          provider = "mongodb"
          url      = env("DATABASE_URL")
        }
        model User {
          id Int @id @map("_id")
        \(lines.map { "  \($0)" }.joined(separator: "\n"))
        }

        """
    }

    private func play(
        _ collection: String, _ schemas: String, _ body: (Month) async throws -> Void
    ) async throws -> [String] {
        try await Mongod.shared.withBackfill { test in
            let home = try CommandLineFolder()
            defer { home.remove() }
            var lines: [String] = []
            try await FakeClock.lend { clock in
                let month = Month(test, collection: collection, schemas: schemas, home: home, clock: clock)
                try await body(month)
                lines = month.lines
            }
            return lines
        }
    }

    private static let head = """
        # A month with two projects

        *What does it look like from one deploy to the next?* A Prisma project and an App Services app go through eight
        versions of their schemas, with a pull request for each, a check in every night, two breaking changes and a
        rollback. A test plays the month on a server, with the workflow that `shipshape init --ci github` wrote, and
        with small clients of each version that read all documents whenever a version runs. `scripts/month` writes this
        page.

        """

    @Test func aMonthHasNoDeadEnd() async throws {
        let prisma = try await play("User", "prisma", Self.prisma)
        let app = try await play("Task", "app", Self.app)
        let parts = [Self.head, "## The Prisma project"] + prisma + ["", "## The App Services app"] + app
        // Two blocks have one empty line between them.
        let text = parts.joined(separator: "\n").replacing(/\n{3,}/, with: "\n\n") + "\n"
        let page = Repository.path("docs/guide/month.md").string
        if ProcessInfo.processInfo.environment["SHIPSHAPE_WRITE_MONTH"] != nil {
            try text.write(toFile: page, atomically: true, encoding: .utf8)
        }
        let shown = try String(contentsOfFile: page, encoding: .utf8)
        #expect(shown == text, "scripts/month writes the page anew")
    }

    private static func prisma(_ month: Month) async throws {
        func name(_ isRequired: Bool = true) -> Field { Field(name: "name", kind: .text, isRequired: isRequired) }
        func email(_ isRequired: Bool) -> Field { Field(name: "email", kind: .text, isRequired: isRequired) }
        func full(_ isRequired: Bool) -> Field { Field(name: "fullName", kind: .text, isRequired: isRequired) }
        let v1 = Month.Version(name: "v1", reads: [name()], writes: [name()])
        let v2 = Month.Version(name: "v2", reads: [name()], writes: [name()])
        let v3 = Month.Version(name: "v3", reads: [name(), email(false)], writes: [name(), email(true)])
        let v4 = Month.Version(name: "v4", reads: [name(), email(true)], writes: [name(), email(true)])
        let v5 = Month.Version(
            name: "v5", reads: [name(), email(true), full(false)], writes: [name(), email(true), full(true)])
        let reader = Month.Version(
            name: "v5, which reads fullName", reads: [email(true), full(true)],
            writes: [name(), email(true), full(true)])
        let v6 = Month.Version(name: "v6", reads: [email(true), full(true)], writes: [email(true), full(true)])
        let (file, database) = ("prisma/schema.prisma", month.test.database.name)

        month.day(1, "The project gets its files. `.env` is not committed: only the name of its database is read.")
        try await month.begin([
            file: schema("name String"), ".gitignore": ".env\n",
            ".env": "DATABASE_URL='mongodb://ada:secret@db1:27017/\(database)'\n",
        ])
        try await month.run("shipshape init --schema prisma --ci github")
        try await month.commit("v1")
        try await month.live(v1)
        try await month.run("shipshape check --active prisma", shown: 2)
        try await month.nights(to: 3, of: "prisma")

        month.day(3, "A new field that may be missing. Old and new clients read each other's documents.")
        try month.write(schema("name String", "nick String?"), to: file)
        try await month.pullRequest("v2")
        try await month.live(v1, v2)
        try await month.nights(to: 7, of: "prisma")

        month.day(
            7, "A required field. The pull request fails, because new clients would fail on documents without it:")
        try month.write(schema("name String", "nick String?", "email String"), to: file)
        try await month.pullRequest("v3", failing: ["diff", "documents"])
        try await month.run("shipshape diff HEAD:prisma prisma --offline", shown: 2, code: 1)
        month.lines(
            "So the field comes in two deploys, as `shipshape explain prisma-fill` says: first optional, and written "
                + "by every client.")
        try month.write(schema("name String", "nick String?", "email String?"), to: file)
        try await month.pullRequest("v3")
        try await month.live(v2, v3)
        try await month.nights(to: 10, of: "prisma")

        month.day(10, "No client of `v2` runs any more. The job fills the documents; then the field becomes required.")
        try await month.live(v3)
        try month.write(schema("name String", "nick String?", "email String"), to: file)
        try await month.run("shipshape plan HEAD:prisma prisma --out jobs/email", shown: 8)
        try await month.run("shipshape backfill jobs/email --yes --reviewed", shown: 1)
        try await month.run(
            "shipshape diff HEAD:prisma prisma --offline --accept 'filled by jobs/email' --expires never", shown: 1,
            code: 1)
        try await month.pullRequest("v4")
        try await month.live(v3, v4)
        try await month.run("shipshape job deployed jobs/email/\(database).User.yml --yes", shown: 1)
        try await month.run("shipshape backfill jobs/email --yes --reviewed", shown: 1)
        try await month.nights(to: 12, of: "prisma")

        month.day(12, "The empty address was a mistake. `v3` is deployed again, and the job is undone.")
        try await month.live(v3)
        let text = try #require(
            try? String(
                contentsOfFile: month.repository.appending("jobs/email/\(database).User.yml").string, encoding: .utf8))
        let job = try #require(text.firstMatch(of: /(?m)^job: (\S+)$/)?.1)
        try await month.run("shipshape undo \(job) --yes", shown: 4)
        try await month.live(v3)
        try await month.run("shipshape check v3:prisma --active v3:prisma", shown: 2)
        try await month.nights(to: 14, of: "v3:prisma")

        month.day(14, "The plan gets another value, and its job another name. Then `v4` is deployed again.")
        try await month.run(
            "shipshape plan v3:prisma v4:prisma --out jobs/email --force --default "
                + "\(database).User.email=none@example.com", shown: 8)
        try await month.run("shipshape backfill jobs/email --yes", shown: 1)
        try await month.live(v4)
        try await month.run("shipshape job deployed jobs/email/\(database).User.yml --yes", shown: 1)
        try await month.run("shipshape backfill jobs/email --yes", shown: 1)
        try await month.pullRequest("jobs-email")
        try await month.nights(to: 17, of: "prisma")

        month.day(17, "`name` becomes `fullName`. *Expand*: a version has both fields, and writes both.")
        try month.write(schema("name String", "nick String?", "email String", "fullName String?"), to: file)
        try await month.pullRequest("v5")
        try await month.live(v4, v5)
        try await month.nights(to: 20, of: "prisma")

        month.day(20, "*Migrate*: no client of `v4` runs any more.")
        try await month.live(v5)
        try month.write(schema("nick String?", "email String", "fullName String"), to: file)
        try month.append("renames: [\(database).User.name=fullName]", to: "shipshape.yml")
        try await month.run("shipshape plan v4:prisma prisma --out jobs/name", shown: 9)
        try await month.run("shipshape backfill jobs/name --yes", shown: 1)
        try await month.run("shipshape status jobs/name", shown: 9)
        try await month.live(v5, reader)
        try await month.nights(to: 24, of: "v5:prisma")

        month.day(24, "*Contract*: every client reads `fullName`. The pull request drops `name`.")
        try await month.live(reader)
        try await month.pullRequest("v6", failing: ["diff"])
        try await month.run(
            "shipshape diff HEAD:prisma prisma --offline --accept 'expanded on day 17' --expires never", shown: 1,
            code: 1)
        try await month.pullRequest("v6")
        try await month.live(reader, v6)
        try await month.run("shipshape job deployed jobs/name/\(database).User.yml --yes", shown: 1)
        try await month.run("shipshape backfill jobs/name --yes", shown: 1)
        try await month.live(v6)
        try await month.run("shipshape status jobs/name", shown: 8)
        try await month.nights(to: 31, of: "prisma")
    }

    private static func app(_ month: Month) async throws {
        func task(_ names: [String]) -> String {
            let fields = names.map { #""\#($0)": {"bsonType": "int"}"# }.joined(separator: ", ")
            let required = (["_id"] + names).map { "\"\($0)\"" }.joined(separator: ", ")
            return
                #"{"title": "Task", "bsonType": "object", "required": [\#(required)], "properties": "#
                + #"{"_id": {"bsonType": "int"}, \#(fields)}}"# + "\n"
        }
        // A document without a required property does not sync, so a client of any version fails to see it.
        let (size, rank) = (Field(name: "size"), Field(name: "rank"))
        let a1 = Month.Version(name: "a1", reads: [size], writes: [size])
        let uploads = Month.Version(name: "a1", reads: [size, rank], writes: [size, rank])
        let a2 = Month.Version(name: "a2", reads: [size, rank], writes: [size, rank])
        let database = month.test.database.name
        let file = "app/data_sources/mongodb-atlas/\(database)/Task/schema.json"

        month.day(1, "The export of the app is in the repository.")
        try await month.begin([file: task(["size"]), "app/root_config.json": "{}\n"])
        try await month.run("shipshape init --schema app --ci github", shown: 4)
        try await month.commit("a1")
        try await month.live(a1)
        try await month.nights(to: 9, of: "app")

        month.day(
            9, "A required property. It is additive, but documents without it would not sync: the job comes first.")
        try month.write(task(["size", "rank"]), to: file)
        try await month.run("shipshape plan HEAD:app app --out jobs", shown: 7)
        try await month.run("shipshape backfill jobs --yes --reviewed", shown: 1)
        try await month.pullRequest("a2")
        month.lines(
            "The schema is deployed. What clients of `a1` upload from now on gets the zero value from the server.")
        try await month.live(uploads, a2)
        try await month.run("shipshape job deployed jobs/\(database).Task.yml --yes", shown: 1)
        try await month.run("shipshape backfill jobs --yes --reviewed", shown: 1)
        try await month.run("shipshape status jobs", shown: 5)
        try await month.nights(to: 31, of: "app")
    }
}
