import BSON
import JobsSupport
import LocatedYAML
import ServerSchema
import Testing

@testable import Jobs

@Suite struct JobFileTests {
    @Test func everyKeyOfAJob() throws {
        let text = """
            # comments are kept in the text that a started job is bound to
            job: 2026-11-person.email_1
            collection: app.Person.archive
            schema: {active: schemas/v1, next: schemas/v2}
            steps:
              - default: {field: email, value: ""}
              - default: {field: address.city, value: null, when: missing}
              - default: {field: tags, value: [1, two], when: missingOrNull}
              - copy: {from: age, to: yearsSinceBirth}
              - convert: {field: age, to: string, into: ageText, onError: report}
              - convert:
                  field: born
                  to: date
            limits: {chunk: {documents: 500, time: 250ms, bytes: 2MiB}, unsynced: 50000, reserve: 100, nice: 0.5}
            throttle: {command: "test -e go", timeout: 2s}
            """
        let job = try JobFile.parse(text, path: "jobs/a.yml")
        #expect(job.name == "2026-11-person.email_1")
        #expect(job.namespace == Namespace(database: "app", collection: "Person.archive"))
        #expect(job.veto == Veto(asked: .command("test -e go"), timeLimit: .seconds(2)))
        #expect(job.activeSchema == "schemas/v1")
        #expect(job.nextSchema == "schemas/v2")
        #expect(job.path == "jobs/a.yml")
        #expect(job.text == text)
        #expect(
            job.steps.map(\.step) == [
                .default(field: try FieldPath("email"), value: "", nullsToo: false),
                .default(field: try FieldPath("address.city"), value: nil, nullsToo: false),
                .default(field: try FieldPath("tags"), value: [1, "two"], nullsToo: true),
                .copy(from: try FieldPath("age"), to: try FieldPath("yearsSinceBirth")),
                .convert(field: try FieldPath("age"), to: .string, into: try FieldPath("ageText")),
                .convert(field: try FieldPath("born"), to: .date, into: nil),
            ])
        #expect(job.steps.map(\.location.line) == [6, 7, 8, 9, 10, 11])
        #expect(job.steps.map(\.location.column) == [5, 5, 5, 5, 5, 5])
        #expect(job.limits.chunkDocuments == 500)
        #expect(job.limits.chunkTime == .milliseconds(250))
        #expect(job.limits.chunkBytes == 2 << 20)
        #expect(job.limits.unsynced == 50_000)
        #expect(job.limits.reserve == .documents(100))
        #expect(job.limits.nice == 0.5)
    }

    @Test func omittedKeysHaveDefaults() throws {
        let job = try JobFile.parse("job: a\ncollection: b.c\nsteps: [copy: {from: d, to: e}]", path: "a.yml")
        #expect(job.activeSchema == nil)
        #expect(job.nextSchema == nil)
        #expect(job.limits == Job.Limits())
        #expect(job.limits.chunkDocuments == 500)
        #expect(job.limits.chunkTime == .milliseconds(10))
        #expect(job.limits.chunkBytes == 4 << 20)
        #expect(job.limits.ceiling == 90_000)
    }

    @Test(arguments: [("64KiB", 1 << 16), ("16MiB", 1 << 24), ("1GiB", 1 << 30), ("1000", 1_000)])
    func sizes(_ text: String, _ bytes: Int) throws {
        #expect(try limits("chunk: {bytes: \(text)}").chunkBytes == bytes)
    }

    @Test(arguments: [
        ("10%", Job.Reserve.percent(10)), ("0", .documents(0)), ("0%", .percent(0)), ("99999", .documents(99_999)),
    ])
    func reserves(_ text: String, _ reserve: Job.Reserve) throws {
        #expect(try limits("reserve: \(text)").reserve == reserve)
    }

    @Test func theThrottleLimitsHaveDefaults() throws {
        let throttle = try limits("nice: 0").throttle
        #expect(throttle == ThrottleLimits())
        #expect(throttle.lag == .seconds(10))
        #expect(throttle.oplog == .seconds(3_600))
        #expect(throttle.pause.isEmpty)
    }

    @Test func theThrottleLimits() throws {
        let throttle = try limits(
            "lag: 2s, flowControl: 200ms, tickets: 50%, cache: {dirty: 5%, used: off}, oplog: 24h, ledgerLag: 5m, "
                + "pause: [\"08:00-20:00 Europe/Madrid\", \"Sat,Sun 00:00-24:00 UTC\"]"
        ).throttle
        #expect(throttle.lag == .seconds(2))
        #expect(throttle.flowControl == .milliseconds(200))
        #expect(throttle.tickets == 50)
        #expect(throttle.cacheDirty == 5)
        #expect(throttle.cacheUsed == nil)
        #expect(throttle.oplog == .seconds(86_400))
        #expect(throttle.ledgerLag == .seconds(300))
        #expect(throttle.pause.map(\.text) == ["08:00-20:00 Europe/Madrid", "Sat,Sun 00:00-24:00 UTC"])
    }

    @Test func aThrottleReasonIsRemoved() throws {
        let throttle = try limits("lag: off, flowControl: off, tickets: off, cache: off, oplog: off, pause: off")
            .throttle
        #expect([throttle.lag, throttle.flowControl, throttle.oplog] == [nil, nil, nil])
        #expect([throttle.tickets, throttle.cacheDirty, throttle.cacheUsed] == [nil, nil, nil])
    }

    @Test func theThrottleLimitsAreSpelledAsTheyAreRead() throws {
        let text = "lag: 90s, flowControl: off, tickets: 50%, cache: {dirty: 5%, used: off}, oplog: 24h, ledgerLag: 5m"
        let spelled = try limits(text).entries.suffix(8).map { "\($0.name)=\($0.value)" }
        #expect(
            spelled == [
                "lag=90s", "flowControl=off", "tickets=50%", "cache.dirty=5%", "cache.used=off", "oplog=24h",
                "pause=off", "ledgerLag=5m",
            ])
    }

    @Test func aFileIsRead() throws {
        let text = "job: a\ncollection: b.c\nsteps: [copy: {from: d, to: e}]"
        try Fixture.withFile(Array(text.utf8)) { path in
            let job = try JobFile.read(at: path)
            #expect(job.text == text)
            #expect(job.path == path)
        }
    }

    @Test func theContentOfATextHasNoCommentsAndNoLayout() {
        let text = "job: a  # A job.\n\nsteps:\n  - copy: {from: d, to: e}\n"
        let content = JobFile.content(of: text)
        #expect(content == JobFile.content(of: "# Planned.\njob: a\nsteps: [copy: {from: d, to: e}]"))
        let others = [
            "job: \"1\"", "job: 1", "job: '1'", "job: 1.0", "job: [a]", "job: [a, b]", "job: {a: b}", "job: a\nb: c",
            "b: c\njob: a", "job: ab", "job: !!str 1", "job: null", "job: ~", "job: \"null\"", "no: [yaml",
        ]
        let distinct = Set(others.map(JobFile.content))
        // Quotation marks and tags only state the type, so `"1"`, `'1'` and `!!str 1` have the same content. The
        // contents of `null` and `~` differ, although both mean null.
        #expect(JobFile.content(of: "job: \"1\"") == JobFile.content(of: "job: '1'"))
        #expect(JobFile.content(of: "job: \"1\"") == JobFile.content(of: "job: !!str 1"))
        #expect(distinct.count == others.count - 2)
        #expect(JobFile.content(of: "no: [yaml") == "no: [yaml")
    }

    /// The content of a job file leaves out the keys `review` and `reviewed`.
    ///
    /// A job that ran with `--reviewed` therefore stays the same job if the operator later adds `reviewed: true` to its
    /// file.
    @Test func theContentOfATextHasNoReviews() {
        let content = JobFile.content(of: "job: a\nsteps: [copy: {from: d, to: e}]")
        let reviewed = "job: a\nreviewed: true\nsteps:\n  - copy: {from: d, to: e}\n    review: the field e\n"
        #expect(JobFile.content(of: reviewed) == content)
        #expect(JobFile.content(of: "job: a\nsteps: [copy: {from: d, to: e, reviewed: true}]") != content)
    }

    /// The page `docs/guide/engines.md` names the step for each PowerSync rule whose violations `plan` repairs.
    ///
    /// The steps that it leaves to the user are valid in a job file.
    @Test func theStepsOfThePageOfEnginesAreAJob() throws {
        let page = try YAMLFile.text(at: "\(ReadyJobs.folder)/../docs/guide/engines.md")
        let section = try #require(page.split(separator: "## How do I repair them?").last)
        let blocks = section.split(separator: "```yaml\n").dropFirst().compactMap { $0.split(separator: "```").first }
        let jobs = blocks.filter { $0.hasPrefix("steps:") }
        #expect(jobs.count == 1)
        for steps in jobs { _ = try JobFile.parse("job: a\ncollection: b.c\n\(steps)", path: "a.yml") }
        for code in ["depth", "date", "size", "row", "type", "binary-length", "nonfinite", "name"] {
            #expect(section.contains("powersync-\(code)"), "\(code)")
        }
    }

    @Test func aFileThatIsNotThere() {
        let error = Fixture.failure { try JobFile.read(at: "/nowhere/job.yml") }
        #expect(error == "/nowhere/job.yml: there is no such file or folder (check the path)")
    }

    @Test func aFileThatIsNotUTF8() throws {
        try Fixture.withFile(Array("job: ".utf8) + [0xFF, 0xFE]) { path in
            let error = Fixture.failure { try JobFile.read(at: path) }
            #expect(error == "\(path): the file is not UTF-8 (save it as UTF-8)")
        }
    }

    private func limits(_ text: String) throws -> Job.Limits {
        try JobFile.parse("job: a\ncollection: b.c\nlimits: {\(text)}\nsteps: [copy: {from: d, to: e}]", path: "a")
            .limits
    }
}
