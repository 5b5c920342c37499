import BSON
import SchemaChange
import ServerSchema
import Testing

@testable import Checking

/// Tests which findings make a check end with exit code 1.
@Suite struct FailurePolicyTests {
    private func report(
        certain: Int = 0, possible: Int = 0, newlyFailing: Int = 0, newlyPossible: Int = 0, ledger: Int = 0,
        removed: [RemovedCollection] = []
    ) -> CheckReport {
        var counts = DocumentCounts()
        (counts.read, counts.certain, counts.possible) = (100, certain, possible)
        (counts.unexcepted.certain, counts.unexcepted.possible) = (certain, possible)
        (counts.unexcepted.newlyFailing, counts.unexcepted.newlyPossible) = (newlyFailing, newlyPossible)
        counts.changes = VerdictChanges()
        let namespace = Namespace(database: "app", collection: "Person")
        return CheckReport(
            source: "x", active: CheckReport.ActiveSchema(name: "old", removed: removed),
            collections: [.init(namespace: namespace, counts: counts)],
            ledger: LedgerCount(entries: ledger), limit: 10, duration: .zero)
    }

    @Test func anyCountsAllThatDoNotSync() {
        let any = FailurePolicy()
        #expect(any.fails(report(certain: 1)))
        #expect(!any.fails(report(possible: 1)))
        #expect(FailurePolicy(includesPossible: true).fails(report(possible: 1)))
    }

    @Test func newCountsWhatFitsToday() {
        let new = FailurePolicy(documents: .new)
        #expect(!new.fails(report(certain: 3, possible: 3)))
        #expect(new.fails(report(certain: 3, newlyFailing: 1)))
        #expect(!new.fails(report(possible: 3, newlyPossible: 1)))
        #expect(FailurePolicy(documents: .new, includesPossible: true).fails(report(possible: 3, newlyPossible: 1)))
    }

    @Test func aFullLedgerAndARemovedCollectionFailInAnyCase() {
        let new = FailurePolicy(documents: .new)
        let namespace = Namespace(database: "app", collection: "Gone")
        #expect(new.fails(report(ledger: 10)))
        #expect(new.fails(report(removed: [.init(namespace: namespace, documentCount: 4)])))
        #expect(new.fails(report(removed: [.init(namespace: namespace, documentCount: nil)])))
        #expect(!new.fails(report(removed: [.init(namespace: namespace, documentCount: 0)])))
    }

    /// A schema change that the operator accepts is still reported as unsafe, but does not make the check fail.
    @Test func anAcceptedChangeDoesNotFail() throws {
        let people = Namespace(database: "app", collection: "Person")
        func schema(_ type: String) throws -> ServerSchema {
            let properties = #""_id": {"bsonType": "int"}, "n": {"bsonType": "\#(type)"}"#
            return try ServerSchema.read(
                text: #"{"title": "Person", "properties": {\#(properties)}}"#, file: "p.json", namespace: people)
        }
        let changes = SchemaDiff.changes(from: try schema("string"), to: try schema("int"))
        var change = DiffReport(old: "v1", new: "v2", dialect: .appServices, changes: changes)
        var report = report()
        let policy = FailurePolicy(includesChange: true)
        report.active = CheckReport.ActiveSchema(name: "v1", difference: .computed(change))
        #expect(policy.fails(report) && policy.failingChanges(in: report) == changes)
        change.accepted = [
            AcceptedChange(
                namespace: people, path: "n", code: .propertyTypeChanged,
                acceptance: Acceptance(
                    fingerprint: changes.first?.fingerprint, reason: "r", owner: "o", expires: nil,
                    location: SourceLocation(file: "e.yml", line: 1, column: 3)))
        ]
        report.active = CheckReport.ActiveSchema(name: "v1", difference: .computed(change))
        #expect(report.changeSeverity == .unsafe && !policy.fails(report))
        #expect(policy.failingChanges(in: report) == [])
    }

    /// `check --join` reads the reports of the parts of a check.
    ///
    /// Each report states how many schema changes the operator has not accepted. Reports of earlier program versions do
    /// not state this, and then the change counts as not accepted.
    @Test(arguments: [(0, false), (1, true), (nil, true)] as [(Int32?, Bool)])
    func aStatedChangeFailsUnlessItIsAccepted(_ unaccepted: Int32?, _ fails: Bool) throws {
        var report = report()
        var json: BSONDocument = ["severity": "harmful"]
        if let unaccepted { json = ["severity": "harmful", "unaccepted": .int(unaccepted)] }
        report.active = CheckReport.ActiveSchema(name: "v1", difference: .stated(json))
        #expect(FailurePolicy(includesChange: true).fails(report) == fails)
    }
}

/// Tests the limits for how many documents may fail without making a check fail.
@Suite struct FailingLimitTests {
    private static let people = Namespace(database: "app", collection: "Person")
    private static let tasks = Namespace(database: "app", collection: "Task")

    private func threshold(_ rule: Rule?, _ text: String) throws -> FailingThreshold {
        FailingThreshold(
            namespace: Self.people, rule: rule?.code, limit: try #require(FailingLimit(text)),
            location: SourceLocation(whole: "shipshape.yml"))
    }

    /// Creates a report of 1,000 people and 1,000 tasks.
    ///
    /// Among the people, `missing` lack a required field, `wrong` have a wrong type, and `both` have both failures.
    private func report(missing: Int, wrong: Int, both: Int = 0, tasks: Int = 0) -> CheckReport {
        func group(_ rule: Rule, _ count: Int) -> ViolationGroup {
            let violation = Violation(path: SchemaPath(), rule: rule.code, level: .certain, expected: "", found: "")
            return ViolationGroup(violation: violation, count: count, sampleIDs: [], filter: [:], filterIsExact: true)
        }
        func collection(_ name: Namespace, _ failing: Int, _ groups: [ViolationGroup]) -> CheckReport.Collection {
            var counts = DocumentCounts()
            (counts.read, counts.certain, counts.unexcepted.certain) = (1_000, failing, failing)
            return CheckReport.Collection(namespace: name, counts: counts, groups: groups.filter { $0.count > 0 })
        }
        return CheckReport(
            source: "x",
            collections: [
                collection(
                    Self.people, missing + wrong - both,
                    [group(.requiredMissing, missing), group(.typeMismatch, wrong)]),
                collection(Self.tasks, tasks, [group(.typeMismatch, tasks)]),
            ], ledger: nil, limit: 10_000, duration: .zero)
    }

    @Test(arguments: [
        ("500", FailingLimit.documents(500)), ("0", .documents(0)), ("0.1%", .percent(0.1)), ("100%", .percent(100)),
    ])
    func aLimitIsANumberOrAShare(_ text: String, _ limit: FailingLimit) {
        #expect(FailingLimit(text) == limit)
        #expect(limit.description == text)
    }

    @Test(arguments: ["", "-1", "many", "101%", "0.1", "%", "nan%"]) func anythingElseIsNoLimit(_ text: String) {
        #expect(FailingLimit(text) == nil)
    }

    @Test func theLimitOfTheCheckCountsAllCollections() throws {
        var policy = FailurePolicy()
        policy.maximum = FailingLimit("10")
        #expect(!policy.fails(report(missing: 5, wrong: 3, tasks: 2)))
        #expect(policy.fails(report(missing: 5, wrong: 3, tasks: 3)))
        policy.maximum = FailingLimit("0.5%")
        #expect(!policy.fails(report(missing: 10, wrong: 0)), "10 of 2,000")
        #expect(policy.fails(report(missing: 11, wrong: 0)))
    }

    @Test func aCollectionWithALimitOfItsOwnCountsAgainstThatAlone() throws {
        var policy = FailurePolicy()
        policy.thresholds = [try threshold(nil, "1%")]
        #expect(!policy.fails(report(missing: 10, wrong: 0)))
        #expect(policy.fails(report(missing: 11, wrong: 0)))
        #expect(policy.fails(report(missing: 10, wrong: 0, tasks: 1)), "the others have no limit")
        let uses = policy.uses(in: report(missing: 10, wrong: 0, tasks: 1))
        #expect(uses.map(\.failing) == [10, 1] && uses.map(\.isExceeded) == [false, true])
    }

    @Test func aRuleWithALimitOfItsOwnDoesNotHideTheOthers() throws {
        var policy = FailurePolicy()
        policy.thresholds = [try threshold(.requiredMissing, "20")]
        #expect(!policy.fails(report(missing: 20, wrong: 0)))
        #expect(policy.fails(report(missing: 21, wrong: 0)))
        #expect(policy.fails(report(missing: 5, wrong: 1)))
        #expect(policy.fails(report(missing: 5, wrong: 1, both: 1)), "the document breaks another rule, too")
        policy.thresholds.append(try threshold(nil, "1"))
        #expect(!policy.fails(report(missing: 5, wrong: 1)))
    }

    @Test func findingsThatAreNotListedCountAgainstTheCollection() throws {
        var policy = FailurePolicy()
        policy.thresholds = [try threshold(.requiredMissing, "20")]
        var full = report(missing: 5, wrong: 0)
        full.collections[0].overflowCount = 1
        #expect(policy.fails(full))
    }

    @Test func noLimitAcceptsThatSyncStops() throws {
        var policy = FailurePolicy()
        policy.maximum = FailingLimit("100%")
        var stopped = report(missing: 5, wrong: 0)
        stopped.verdict.limit = 5
        #expect(policy.fails(stopped))
    }
}
