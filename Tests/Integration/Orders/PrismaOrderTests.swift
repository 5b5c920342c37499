import BSON
import SystemPackage
import TestSupport
import Testing

/// Executes each order of work that `plan` proposes for a change of a Prisma schema, with old and new clients between
/// every two steps.
///
/// `docs/reference/rules.md`, section "Order of work", has the orders.
@Suite struct PrismaOrderTests {
    private typealias Client = PrismaClient
    private typealias Field = PrismaClient.Field

    /// A step of an order.
    enum Step: Sendable {
        /// Clients of these versions run at the same time.
        case live([PrismaClient])
        /// `backfill FOLDER`, which runs up to the next deploy.
        case backfill
        /// The deploy is recorded.
        case deployed
    }

    /// A change, with the order in one deploy and the order without an outage.
    struct Row: Sendable, CustomTestStringConvertible {
        let change: String
        let order: String
        /// The line of the model in the older and in the newer schema.
        let old: String, new: String
        var renames = ""
        /// The value that the older client reads in documents that lack the field; `nil` if there are none.
        var gap: Int?
        /// The value that the job writes where there is none.
        var filled: Int?
        /// The order in a single deploy.
        let direct: [Step]
        /// The versions whose clients fail, or miss a value, in the order of a single deploy.
        var failing: Set<String> = []
        /// The order without an outage; empty if it is that of a single deploy.
        var safe: [Step] = []
        /// Whether the last jobs report documents in which only the new field was written.
        var endsWithFindings = false

        var testDescription: String { "\(order): \(change)" }
    }

    static let rows: [Row] = {
        let number = Field(name: "x")
        let optional = Field(name: "x", isRequired: false)
        let second = Field(name: "y")
        let secondOptional = Field(name: "y", isRequired: false)
        let text = Field(name: "x", kind: .text)
        let none = Client("old", nil, writing: nil)
        func single(_ old: Client, _ new: Client, _ jobs: Bool = true) -> [Step] {
            jobs
                ? [.live([old]), .backfill, .live([old, new]), .deployed, .backfill, .live([new])]
                : [.live([old]), .live([old, new]), .live([new])]
        }
        func between(_ old: Client, _ middle: Client, _ new: Client, _ jobs: Bool) -> [Step] {
            [.live([old]), .live([old, middle]), .live([middle])] + (jobs ? [.backfill] : [])
                + [.live([middle]), .live([middle, new])] + (jobs ? [.deployed, .backfill] : []) + [.live([new])]
        }
        func expanded(_ old: Client, _ both: Client, _ reader: Client, _ new: Client) -> [Step] {
            [
                .live([old]), .live([old, both]), .live([both]), .backfill, .live([both]), .live([both, reader]),
                .live([reader]), .live([reader, new]), .live([new]), .deployed, .backfill, .live([new]),
            ]
        }
        let sized = { (count: Int) in Field(name: "x", kind: .choice(count)) }
        return [
            Row(
                change: "optional-added", order: "prisma-any-time", old: "", new: "x Int?",
                direct: single(none, Client("new", optional, writing: 7), false)),
            Row(
                change: "required-added", order: "prisma-fill", old: "", new: "x Int", filled: 0,
                direct: single(none, Client("new", number, writing: 7)), failing: ["new"],
                safe: between(none, Client("middle", optional, writing: 5), Client("new", number, writing: 7), true)),
            Row(
                change: "optional-to-required", order: "prisma-fill", old: "x Int?", new: "x Int", filled: 0,
                direct: single(Client("old", optional, writing: nil), Client("new", number, writing: 7)),
                failing: ["new"],
                safe: between(
                    Client("old", optional, writing: nil), Client("middle", optional, writing: 5),
                    Client("new", number, writing: 7), true)),
            Row(
                change: "default-changed", order: "prisma-fill", old: "x Int @default(1)", new: "x Int @default(2)",
                gap: 1,
                direct: single(
                    Client("old", Field(name: "x", constant: 1), writing: 3),
                    Client("new", Field(name: "x", constant: 2), writing: 7))),
            Row(
                change: "required-to-optional", order: "prisma-read-first", old: "x Int", new: "x Int?",
                direct: single(Client("old", number, writing: 3), Client("new", optional, writing: nil), false),
                failing: ["old"],
                safe: between(
                    Client("old", number, writing: 3), Client("middle", optional, writing: 3),
                    Client("new", optional, writing: nil), false)),
            Row(
                change: "property-removed", order: "prisma-read-first", old: "x Int", new: "",
                direct: single(Client("old", number, writing: 3), Client("new", nil, writing: nil), false),
                failing: ["old"],
                safe: between(
                    Client("old", number, writing: 3), Client("middle", optional, writing: 3),
                    Client("new", nil, writing: nil), false)),
            Row(
                change: "constraint-loosened", order: "prisma-read-first", old: "x Small", new: "x Large",
                direct: single(Client("old", sized(2), writing: 1), Client("new", sized(3), writing: 3), false),
                failing: ["old"],
                safe: between(
                    Client("old", sized(2), writing: 1), Client("middle", sized(3), writing: 2),
                    Client("new", sized(3), writing: 3), false)),
            Row(
                change: "property-renamed", order: "prisma-expand", old: "x Int", new: "y Int", renames: "x=y",
                direct: single(Client("old", number, writing: 3), Client("new", second, writing: 7)),
                failing: ["old", "new"],
                safe: expanded(
                    Client("old", number, writing: 3),
                    Client("both", reading: number, writing: 4, to: [number, secondOptional]),
                    Client("reader", reading: second, writing: 5, to: [number, second]),
                    Client("new", second, writing: 7)), endsWithFindings: true),
            Row(
                change: "property-renamed with another type", order: "prisma-expand", old: "x String", new: "y Int",
                renames: "x=y",
                direct: single(Client("old", text, writing: 3), Client("new", second, writing: 7)),
                failing: ["old", "new"],
                safe: expanded(
                    Client("old", text, writing: 3),
                    Client("both", reading: text, writing: 4, to: [text, secondOptional]),
                    Client("reader", reading: second, writing: 5, to: [text, second]),
                    Client("new", second, writing: 7)), endsWithFindings: true),
            Row(
                change: "property-type-changed", order: "prisma-expand", old: "x String", new: "x Int",
                direct: [
                    .live([Client("old", text, writing: 3)]), .backfill,
                    .live([Client("old", text, writing: 3), Client("new", number, writing: 7)]),
                ], failing: ["old", "new"]),
        ]
    }()

    private static func schema(_ line: String) -> String {
        """
        datasource db {
          provider = "mongodb"
        }
        enum Small {
          V1
          V2
        }
        enum Large {
          V1
          V2
          V3
        }
        model Row {
          id Int @id @map("_id")
          \(line)
        }

        """
    }

    /// The outcome of an order that was executed.
    private struct Outcome {
        var plan = ""
        /// The versions whose clients failed or missed a value, for each step in which clients ran.
        var failed: [Set<String>] = []
        /// The exit codes of `backfill`.
        var codes: [Int32?] = []
    }

    /// Plans the change, and executes the steps.
    private func execute(_ row: Row, _ steps: [Step]) async throws -> Outcome {
        try await Mongod.shared.withBackfill { test in
            let name = test.database.name
            try test.write("old.prisma", Self.schema(row.old))
            try test.write("new.prisma", Self.schema(row.new))
            if !row.renames.isEmpty { try test.write("shipshape.yml", "renames: [\(name).Row.\(row.renames)]\n") }
            func run(_ words: String...) async throws -> ProgramRun {
                try await Program.run(
                    words + [
                        "--uri", test.uri, "SHIPSHAPE_DATABASE=\(name)", "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
                    ], in: test.folder)
            }
            var (world, outcome) = (OrderWorld(test.database), Outcome())
            if case .live(let clients)? = steps.first { try await world.seed(clients[0], gap: row.gap) }
            outcome.plan = try await run("plan", "old.prisma", "new.prisma", "--out", "jobs").output
            for step in steps {
                switch step {
                case .live(let clients): outcome.failed.append(try await world.live(clients))
                case .backfill:
                    let done = try await run("backfill", "jobs", "--yes", "--reviewed")
                    outcome.codes.append(done.exitCode)
                    if let filled = row.filled { world.fill(filled) }
                case .deployed:
                    let recorded = try await run("job", "deployed", "jobs/\(name).Row.yml", "--yes")
                    #expect(recorded.exitCode == 0, "\(recorded.errors)")
                }
            }
            return outcome
        }
    }

    @Test(arguments: rows) func inASingleDeployThoseFailWhomTheOrderNames(_ row: Row) async throws {
        let outcome = try await execute(row, row.direct)
        #expect(outcome.failed.reduce([]) { $0.union($1) } == row.failing)
        // The plan says so before anything is run, and names the page that says who fails.
        #expect(row.failing.isEmpty || outcome.plan.contains("shipshape explain \(row.order)"), "\(outcome.plan)")
        // Once the order is done, no client fails.
        if case .live(let last)? = row.direct.last, last.count == 1 { #expect(outcome.failed.last?.isEmpty == true) }
    }

    @Test(arguments: rows.filter { !$0.safe.isEmpty }) func withoutAnOutageNoReadFailsAndNoWriteIsLost(
        _ row: Row
    ) async throws {
        let outcome = try await execute(row, row.safe)
        #expect(outcome.failed.filter { !$0.isEmpty } == [], "\(outcome.failed)")
        let jobs = row.safe.count { if case .backfill = $0 { true } else { false } }
        let last: Int32 = row.endsWithFindings ? 1 : 0
        #expect(outcome.codes == (jobs == 0 ? [] : Array(repeating: 0, count: jobs - 1) + [last]), "\(outcome.codes)")
    }
}
