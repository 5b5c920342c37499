import BSON
import DumpWriter
import Foundation
import Subprocess
import SystemPackage
import TestSupport
import Testing

/// A project that is played day by day: its repository, its documents, its clients, and a transcript for the guide.
///
/// Every command is run as the transcript shows it. Names of the test, dates, digests and durations are masked.
final class Month {
    /// A version of the application: what its clients read of each document, and what they write.
    struct Version {
        let name: String
        let reads: [PrismaClient.Field]
        let writes: [PrismaClient.Field]
    }

    let test: BackfillCase
    let collection: String
    /// The folder of the schemas in the repository.
    let schemas: String
    private let home: CommandLineFolder
    private let clock: FakeClock
    private let start = Date.now
    private var day = 1
    private var pullRequests = 0
    private var next = 0
    private(set) var lines: [String] = []

    var repository: FilePath { home.path.appending("project") }

    init(_ test: BackfillCase, collection: String, schemas: String, home: CommandLineFolder, clock: FakeClock) {
        (self.test, self.collection, self.schemas) = (test, collection, schemas)
        (self.home, self.clock) = (home, clock)
    }

    // MARK: The transcript

    /// Begins a day, and says what happens.
    func day(_ number: Int, _ text: String) {
        day = number
        lines += ["", "**Day \(number).** \(text)", ""]
    }

    /// Adds a paragraph.
    func lines(_ text: String) { lines += ["", text, ""] }

    private func masked(_ text: String) -> String {
        text.replacing(test.database.name, with: "shop").replacing(test.mongod.host, with: "db1")
            .replacing(/[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9:]{8} UTC)?/, with: "…")
            .replacing(/(shop\.[A-Za-z]+)-[0-9a-f]{8}/) { "\($0.1)-…" }.replacing(/[0-9]+\.[0-9] s/, with: "0.1 s")
            .replacing(/(\S) {3,}(\S)/) { "\($0.1)  \($0.2)" }
    }

    private func record(_ command: String, _ output: String, shown: Int) {
        let all = masked(output).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let kept = Array(all.prefix(shown))
        lines += ["", "```", "$ \(masked(command))"] + kept.filter { !$0.isEmpty }
        if all.count(where: { !$0.isEmpty }) > kept.count(where: { !$0.isEmpty }) { lines.append("…") }
        lines += ["```", ""]
    }

    // MARK: Commands

    private var environment: [Environment.Key: String?] {
        let hour = Int(start.timeIntervalSince1970) / 3_600 % 24
        var all = clock.variables("\(24 * day + 12 - hour)h")
        all["DATABASE_URL"] = test.mongod.uri(appName: "month").replacing("/?", with: "/\(test.database.name)?")
        all["SHIPSHAPE_URI"] = all["DATABASE_URL"]
        all["SHIPSHAPE_STATE_DATABASE"] = test.state.name
        all["SHIPSHAPE_OWNER"] = "ada"
        return Dictionary(uniqueKeysWithValues: all.map { (Environment.Key(stringLiteral: $0.key), $0.value) })
    }

    /// Runs a command in the repository, and shows the first lines of its output.
    @discardableResult
    func run(_ command: String, shown: Int = 8, code: Int32 = 0) async throws -> String {
        let run = try await shell(command)
        #expect(run.exitCode == code, "day \(day): \(command): \(run.output)\(run.errors)")
        record(command, run.output.isEmpty ? run.errors : run.output, shown: shown)
        return run.output
    }

    private func shell(_ command: String) async throws -> ProgramRun {
        try await Program.shell(
            #"PATH="$(dirname "$0"):$PATH"; eval "$1""#, [command], in: repository, environment: environment)
    }

    private func git(_ words: String) async throws {
        let run = try await Program.shell(
            "git -c user.name=Ada -c user.email=ada@example.com \(words)", [], in: repository)
        try #require(run.exitCode == 0, "git \(words): \(run.errors)")
    }

    // MARK: The repository

    func begin(_ files: [String: String]) async throws {
        for (name, text) in files { try home.write(text, to: "project/\(name)") }
        try await git("init --quiet --initial-branch=main")
    }

    func write(_ text: String, to file: String) throws { try home.write(text, to: "project/\(file)") }

    func append(_ line: String, to file: String) throws {
        try write((home.text(of: "project/\(file)") ?? "") + line + "\n", to: file)
    }

    /// Runs the written workflow on the changes of the repository, as a pull request against the last commit.
    /// - Parameter failing: the steps that have to fail.
    func pullRequest(_ tag: String, failing: Set<String> = []) async throws {
        try await git("add --all")
        pullRequests += 1
        let clone = home.path.appending("clone-\(pullRequests)")
        let copied = try await Program.shell(
            #"git clone --quiet "$1" "$2" && git -C "$1" diff --cached --binary | git -C "$2" apply --allow-empty"#,
            [repository.string, clone.string])
        try #require(copied.exitCode == 0, "\(copied.errors)")
        let dump = home.path.appending("dump.archive.gz")
        try await write(dump)
        let text = try #require(home.text(of: "project/.github/workflows/schemas.yml"))
        var (failed, outcomes): (Set<String>, [String]) = ([], [])
        for step in try WrittenWorkflow(text, isGitHub: true).steps {
            let run = try await WrittenWorkflow.run(
                step.script, in: clone, schemas: schemas, home: home.path, dump: dump)
            if run.status != 0 { failed.insert(step.name) }
            #expect([0, 1].contains(run.status), "\(tag), \(step.name): \(run.output)")
            if ["diff", "lint", "documents"].contains(step.name) {
                outcomes.append("\(step.name) \(run.status == 0 ? "passes" : "fails")")
            }
        }
        #expect(failed == failing, "\(tag): \(failed)")
        lines += ["", "The pull request `\(tag)`: \(outcomes.joined(separator: ", ")).", ""]
        if failed.isEmpty { try await commit(tag) }
    }

    /// Commits the changes of the repository, and tags the commit.
    func commit(_ tag: String) async throws {
        try await git("add --all")
        try await git("commit --quiet --message \(tag)")
        try await git("tag \(tag)")
    }

    private func write(_ dump: FilePath) async throws {
        let place = test.database.namespace(collection)
        var writer = ArchiveWriter([place])
        writer.write(try await test.database.documents(collection), of: place)
        writer.close(place)
        try Data(gzip(writer.bytes)).write(to: URL(filePath: dump.string))
    }

    // MARK: Clients and nights

    /// Lets clients of these versions run at the same time: each inserts documents, and then reads all.
    func live(_ versions: Version...) async throws {
        for version in versions {
            for _ in 0..<5 {
                let fields = version.writes.map { ($0.name, $0.stored(next)) }
                try await test.database.fill(collection, [BSONDocument([("_id", .int(Int32(next)))] + fields)])
                next += 1
            }
        }
        for document in try await test.database.documents(collection) {
            for version in versions {
                for field in version.reads {
                    #expect(throws: Never.self, "day \(day): \(version.name) reads \(field.name) of \(document)") {
                        _ = try field.read(document)
                    }
                }
            }
        }
        lines += [
            "", "Clients of \(versions.map { "`\($0.name)`" }.joined(separator: " and ")) run: no failed read.", "",
        ]
    }

    /// Checks the live schema in the nights up to a day, as `jobs/nightly` does.
    func nights(to last: Int, of version: String) async throws {
        let first = day
        for night in first..<last {
            day = night
            let command = "shipshape check \(version) --active \(version) --quiet --history ../history"
            let run = try await shell(command)
            #expect(run.exitCode == 0, "night \(night): \(run.output)\(run.errors)")
        }
        lines += ["", "The nights to day \(last): nothing to report.", ""]
    }
}
