import BSON
import Foundation
import Subprocess
import TestSupport
import Testing

/// Tests a week of nightly checks with a threshold, two anomalies, and an exception that expires.
@Suite(.enabled(if: FakeClock.library != nil, "scripts/setup --tests installs libfaketime"))
struct NightlyWeekTests {
    /// A night, and what the check of that night has to report.
    private struct Night {
        /// How many documents lack a name.
        let missing: Int
        let exitCode: Int32
        var anomalies = 0
        /// Sentences that the report must contain.
        let sentences: [String]
    }

    /// The nights of the week.
    ///
    /// Twelve documents have an age that is a text. An exception accepts these documents until the fourth night, and
    /// another exception accepts them from the sixth night on. The threshold allows twenty documents without a name.
    private static let nights: [Night] = [
        Night(
            missing: 5, exitCode: 0,
            sentences: ["17 documents would stop syncing (12 excepted).", "Accepted: 5 of 1,000 (0.5%)"]),
        Night(missing: 6, exitCode: 0, sentences: ["0 new, 1 grown, 0 shrunk, 0 gone.", "Accepted: 6 of 1,000"]),
        Night(missing: 5, exitCode: 0, sentences: ["0 new, 0 grown, 1 shrunk, 0 gone."]),
        // 17 documents without a name are within the threshold, but they are more than three times the usual 5.
        Night(
            missing: 17, exitCode: 1, anomalies: 1,
            sentences: ["Anomalies: more than 3 times the usual number of documents", "Accepted: 17 of 1,000 (1.7%)"]),
        // The exception has expired. The same twelve documents as before fail, so their number is no anomaly.
        Night(
            missing: 6, exitCode: 1,
            sentences: ["Expired on DAY4: the exception for type-mismatch of age", "Accepted: 6 of 1,000"]),
        Night(
            missing: 21, exitCode: 1, anomalies: 1,
            sentences: ["Too many: 21 of 1,000 (2.1%) documents of", "12 excepted"]),
        // 18 documents without a name are exactly three times the usual 6, so they are no anomaly.
        Night(missing: 18, exitCode: 0, sentences: ["Accepted: 18 of 1,000 (1.8%)"]),
    ]

    /// The beginning of the test, from which the nights are counted.
    private let start = Date.now

    /// Returns the environment for a program that runs as if it were noon, in UTC, `night` days after the test began.
    ///
    /// Noon is so far from midnight that the day does not change during the test.
    private func environment(_ clock: FakeClock, _ night: Int) -> [Environment.Key: String?] {
        let hour = Int(start.timeIntervalSince1970) / 3_600 % 24
        let offset = clock.variables("\(24 * night + 12 - hour)h")
        return Dictionary(uniqueKeysWithValues: offset.map { (Environment.Key(stringLiteral: $0.key), $0.value) })
    }

    private func day(_ night: Int) -> String {
        start.addingTimeInterval(Double(night) * 86_400).formatted(.iso8601.year().month().day())
    }

    private func people(missing: Int) -> [BSONDocument] {
        (0..<1_000).map { number in
            let id = BSONValue.int(Int32(number))
            if number < missing { return ["_id": id] }
            // The last twelve documents have a text as their age, but each of them has a name.
            return number < 988 ? ["_id": id, "name": "Ada"] : ["_id": id, "name": "Ada", "age": "old"]
        }
    }

    @Test func eachNightSaysWhatIsNew() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            try folder.write(
                "thresholds: [{collection: \(database.name).person, rule: required-missing, max-failing: 20}]\n",
                to: "shipshape.yml")
            let check = try folder.check(database, on: mongod)
            try await FakeClock.lend { clock in
                func run(_ arguments: [String], on night: Int) async throws -> ProgramRun {
                    try await Program.run(arguments, environment: environment(clock, night), in: folder.path)
                }
                func accept(on night: Int, until last: Int) async throws {
                    let words = ["the importer is being fixed", "SHIPSHAPE_OWNER=ada", "--expires", day(last)]
                    let accepted = try await run(check + ["--accept"] + words, on: night)
                    #expect(accepted.exitCode == 1, "\(accepted.errors)")
                    // The documents without a name are within the threshold, so no exception is written for them.
                    let line = "accepted 1 finding until \(day(last)) in shipshape.exceptions.yml\n"
                    #expect(accepted.errors.hasSuffix(line), "\(accepted.errors)")
                }
                for (index, night) in Self.nights.enumerated() {
                    let number = index + 1
                    // The collection still has the documents of the fifth night. The exception for ages that are texts
                    // has expired, so the test writes a new exception for these documents.
                    if number == 6 { try await accept(on: 6, until: 30) }
                    try await database.run(["delete": "person", "deletes": [["q": [:], "limit": 0]]])
                    try await database.fill("person", people(missing: night.missing))
                    if number == 1 { try await accept(on: 0, until: 4) }
                    let files = ["--history", "history", "--metrics", "m.prom", "--report", "report.json"]
                    let result = try await run(check + files + ["SHIPSHAPE_FAIL_ON_ANOMALY=true"], on: number)
                    let about = "night \(number): \(result.errors)\(result.output)"
                    #expect(result.exitCode == night.exitCode, "\(about)")
                    for sentence in night.sentences.map({ $0.replacing("DAY4", with: day(4)) }) {
                        #expect(result.output.contains(sentence), "\(sentence) \(about)")
                    }
                    #expect(result.output.contains("Anomalies: ") == (night.anomalies > 0), "\(about)")
                    let report = try JSONValue(try #require(folder.text(of: "report.json")))
                    #expect(report["anomalies"]?.elements.count == night.anomalies, "\(about)")
                    let metrics = try #require(folder.text(of: "m.prom"))
                    for (name, value) in [
                        ("anomalies", "} \(night.anomalies)\n"), ("exit_code", "} \(night.exitCode)\n"),
                        ("failing_documents", "level=\"certain\"} \(night.missing + 12)\n"),
                    ] {
                        let lines = metrics.split(separator: "\n").filter { $0.hasPrefix("shipshape_\(name){") }
                        #expect(lines.contains { "\($0)\n".hasSuffix(value) }, "\(name) in night \(number): \(lines)")
                    }
                }
                let history = try await run(["history", "history", "-o", "json"], on: 7)
                let runs = try #require(try JSONValue(history.output)["runs"]?.elements)
                #expect(runs.map { $0["failing"] } == Self.nights.map { .number(Double($0.missing + 12)) })
                #expect(runs.map { $0["anomalies"]?.elements.count } == Self.nights.map(\.anomalies))
                let exceptions = try #require(folder.text(of: "shipshape.exceptions.yml"))
                #expect(exceptions.components(separatedBy: "- collection:").count == 2, "\(exceptions)")
            }
        }
    }
}
