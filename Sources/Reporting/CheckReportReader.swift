import BSON
package import Checking
package import ServerSchema

/// Reads a check's report from JSON, so that the reports on several parts of a check can be merged.
package struct CheckReportReader {
    private let root: LocatedBSON

    /// The size in bytes above which a file is refused.
    ///
    /// A report is far smaller, because it has at most 10,000 violation groups per collection, each with few `_id`s.
    private static let largestSize = 1 << 30

    /// Reads the report in a file.
    /// - Throws: ``SchemaError`` if the file cannot be read, if it is not a report of this version's format, or if it
    ///   lacks a value or has one that a report cannot have.
    package static func read(_ path: String) throws(SchemaError) -> CheckReport {
        let text = try SourceFile.text(of: path, limit: largestSize)
        let json = try JSONParser.parse(Array(text.utf8), file: path)
        let reader = CheckReportReader(root: try LocatedBSON(json))
        guard reader.root["command"]?.text == "check" else {
            throw SchemaError(
                .wrongValue, at: SourceLocation(whole: path), "this is not a report of shipshape check",
                remedy: "write one with check --part 1/2 --report FILE.json")
        }
        let version = try reader.root.integer("schema_version")
        guard version == CheckReportJSON.schemaVersion else {
            throw SchemaError(
                .unsupported, at: SourceLocation(whole: path),
                "the report has schema_version \(version), but this program reads \(CheckReportJSON.schemaVersion)",
                remedy: "write all reports with the version of shipshape that merges them")
        }
        return try reader.report()
    }

    private func report() throws(SchemaError) -> CheckReport {
        let verdict = try root.member("verdict")
        let parts = try verdict.member("parts")
        let documents = try parts.member("documents")
        let change = try parts.member("change").bson.document
        var sync = SyncCircumstances(active: nil, new: nil)
        sync.state = verdict["sync_state"]?.text.flatMap { SyncConfiguration.State(rawValue: $0) }
        sync.isInDevelopment = change?["development_mode"]?.isTrue ?? false
        let entries = verdict["ledger_entries"]?.integer
        let removed = try root.list("removed_collections", Self.removed)
        var report = CheckReport(
            source: try root.string("source"),
            active: root["active"]?.text.map { name in
                CheckReport.ActiveSchema(name: name, difference: change.map { .stated($0) }, removed: removed)
            },
            collections: try root.list("collections", Self.collection),
            absent: try documents.list("absent_collections", Self.namespace),
            sync: sync, ledger: entries.map { LedgerCount(entries: $0, documents: verdict["ledger"]?.integer) },
            limit: verdict["limit"]?.integer ?? .max, exceptions: try exceptions(),
            notes: try root.list("notes", Self.text),
            duration: .milliseconds(try root.integer("duration_ms")))
        report.rules.dialect = Dialect(rawValue: try root.string("dialect")) ?? .appServices
        report.rules.engine = root["engine"]?.text.flatMap { Engine(rawValue: $0) }
        report.rules.hasSchema = root["has_schema"]?.bson.isTrue ?? true
        report.jobs = try documents.list("jobs", Self.job)
        report.part = try root.object("part").map(Self.part)
        return report
    }

    private static func part(_ json: LocatedBSON) throws(SchemaError) -> PartOfCheck {
        let policy = try json.member("fails_by")
        guard let part = CheckPart(try json.integer("number"), of: try json.integer("of")),
            let documents = FailurePolicy.Documents(rawValue: try policy.string("documents"))
        else { throw json.failure("no check has such a part") }
        return PartOfCheck(
            part, digest: try json.string("digest"),
            policy: FailurePolicy(
                documents: documents, includesPossible: try policy.flag("possible"),
                includesChange: try policy.flag("change")))
    }

    private static func collection(_ json: LocatedBSON) throws(SchemaError) -> CheckReport.Collection {
        let failing = try json.member("failing")
        var counts = try failing.counts(failingKeys, in: DocumentCounts())
        counts = try failing.member("unexcepted").counts(unexceptedKeys, in: counts)
        counts.read = try json.integer("documents_read")
        counts.changes = try json.object("changes")?.counts(VerdictChanges.keys, in: VerdictChanges())
        counts.engine = try json.object("engine_counts")?.counts(EngineCounts.keys, in: EngineCounts())
        var collection = CheckReport.Collection(
            namespace: try named(json), counts: counts, estimatedCount: json["documents_estimated"]?.integer,
            groups: try json.list("groups", group), overflowCount: try json.integer("findings_not_grouped"),
            unevaluatedKeywords: try json.list("keywords_not_judged", keyword),
            isInActive: json["in_active"]?.bson.isTrue)
        collection.scope = SyncScope(rawValue: try json.string("sync")) ?? .synced
        collection.isCounted = try json.flag("in_verdict")
        collection.partner = json["partner"]?.text.flatMap { Namespace($0) }
        collection.reading = try reading(try json.member("reading"), of: collection.namespace)
        collection.reading.comparison = try json.object("server_verdicts").map(Self.comparison)
        return collection
    }

    private static func comparison(_ json: LocatedBSON) throws(SchemaError) -> VerdictComparison {
        var comparison = VerdictComparison(version: try json.string("server"))
        comparison.count = try json.integer("compared")
        comparison.differenceCount = try json.integer("different")
        for (key, isAccepted) in [("server_accepts", true), ("server_refuses", false)] {
            comparison.differences += try json.list(key) { json in .init(json.bson, isAccepted: isAccepted) }
        }
        comparison.restriction = json["not_compared"]?.text
        return comparison
    }

    private static let failingKeys: CountKeys<DocumentCounts> = [
        ("certain", \.certain), ("possible", \.possible), ("unfound", \.unfound.all), ("newly_unfound", \.unfound.new),
        ("refused", \.refused.all), ("newly_refused", \.refused.new), ("unincluded", \.unincluded.all),
        ("newly_unincluded", \.unincluded.new), ("certain_in_ledger", \.certainInLedger),
        ("possible_in_ledger", \.possibleInLedger),
    ]

    private static let unexceptedKeys: CountKeys<DocumentCounts> = [
        ("certain", \.unexcepted.certain), ("possible", \.unexcepted.possible),
        ("newly_failing", \.unexcepted.newlyFailing), ("newly_possible", \.unexcepted.newlyPossible),
    ]

    private static func reading(
        _ json: LocatedBSON, of own: Namespace
    ) throws(SchemaError) -> CheckReport.Collection.Reading {
        var reading = CheckReport.Collection.Reading()
        let source = try named(json)
        reading.namespace = source == own ? nil : source
        if let time = json.object("cluster_time") {
            reading.clusterTime = ClusterTime(
                rawValue: UInt64(max(0, try time.integer("t"))) << 32 | UInt64(max(0, try time.integer("i"))))
        }
        reading.changedCount = try json.integer("documents_changed")
        reading.passedOverCount = json["documents_passed_over"]?.integer
        reading.exactCount = json["documents_counted"]?.integer
        reading.missing = try json.list("missing_guarantees") { json throws(SchemaError) in
            let name = try json.string("guarantee")
            guard let guarantee = MissingGuarantee.Guarantee(rawValue: name) else {
                throw json.failure("there is no guarantee \(name.quotedAsJSON)")
            }
            return MissingGuarantee(guarantee, try json.string("reason"))
        }
        return reading
    }

    private static func group(_ json: LocatedBSON) throws(SchemaError) -> ViolationGroup {
        let name = try json.string("level")
        guard let level = Checking.Level.allCases.first(where: { "\($0)" == name }) else {
            throw json.failure("there is no level \(name.quotedAsJSON)")
        }
        let violation = Violation(
            path: SchemaPath(shown: try json.string("path")), rule: RuleCode(rawValue: try json.string("rule")),
            level: level, expected: try json.string("expected"), found: try json.string("found"))
        let exception = try json.object("exception").map(Self.exception)
        return ViolationGroup(
            violation: violation, count: try json.integer("documents"), newCount: json["documents_new"]?.integer,
            sampleIDs: try json.list("sample_ids") { json in json.bson }, exception: exception,
            filter: try json.member("filter").bson.document ?? [:], filterIsExact: try json.flag("filter_is_exact"),
            provenCount: json["filter_documents"]?.integer)
    }

    private static func keyword(_ json: LocatedBSON) throws(SchemaError) -> CompiledSchema.UnevaluatedKeyword {
        CompiledSchema.UnevaluatedKeyword(
            path: SchemaPath(shown: try json.string("path")), keyword: try json.string("keyword"),
            location: SourceLocation(file: try json.string("file"), line: try json.integer("line"), column: 1))
    }

    private static func removed(_ json: LocatedBSON) throws(SchemaError) -> RemovedCollection {
        RemovedCollection(namespace: try named(json), documentCount: json["documents_estimated"]?.integer)
    }

    private func exceptions() throws(SchemaError) -> ExceptionUse? {
        guard let json = root.object("exceptions") else { return nil }
        return ExceptionUse(
            file: try json.string("file"), matched: try json.list("matched", Self.exception),
            unmatched: try json.list("unmatched", Self.exception), expired: try json.list("expired", Self.exception))
    }

    private static func exception(_ json: LocatedBSON) throws(SchemaError) -> FindingException {
        FindingException(
            namespace: try namespace(try json.member("collection")), path: try json.string("path"),
            rule: RuleCode(rawValue: try json.string("rule")),
            acceptance: Acceptance(
                fingerprint: json["fingerprint"]?.text.flatMap { Fingerprint($0) }, reason: try json.string("reason"),
                owner: try json.string("owner"), expires: json["expires"]?.text,
                location: SourceLocation(file: try json.string("file"), line: try json.integer("line"), column: 1)))
    }

    private static func job(_ json: LocatedBSON) throws(SchemaError) -> JobTrace {
        var trace = JobTrace(namespace: try namespace(try json.member("collection")))
        trace.convertedCount = try json.integer("converted")
        trace.unfinished = try json.list("unfinished") { json throws(SchemaError) in
            JobTrace.Unfinished(job: try json.string("job"), state: try json.string("state"))
        }
        trace.gaps = try json.list("gaps", text)
        return trace
    }

    private static func named(_ json: LocatedBSON) throws(SchemaError) -> Namespace {
        Namespace(database: try json.string("database"), collection: try json.string("collection"))
    }

    private static func namespace(_ json: LocatedBSON) throws(SchemaError) -> Namespace {
        guard let namespace = Namespace(try text(json)) else { throw json.failure("this is not DATABASE.COLLECTION") }
        return namespace
    }

    private static func text(_ json: LocatedBSON) throws(SchemaError) -> String {
        guard let text = json.text else { throw json.failure("this is \(json.kind), not a string") }
        return text
    }
}

/// Access to values that every report has; an error is thrown if one is missing or has another type.
extension LocatedBSON {
    fileprivate func failure(_ message: String) -> SchemaError { SchemaError(.wrongValue, at: location, message) }

    fileprivate var integer: Int? { if case .scalar(let value) = value { value.integer } else { nil } }

    /// The object with this name; `nil` if there is none, or another value.
    fileprivate func object(_ name: String) -> LocatedBSON? { self[name].flatMap { $0.members == nil ? nil : $0 } }

    fileprivate func counts<Counts>(_ keys: CountKeys<Counts>, in counts: Counts) throws(SchemaError) -> Counts {
        var counts = counts
        for (key, path) in keys { counts[keyPath: path] = try integer(key) }
        return counts
    }

    fileprivate func member(_ name: String) throws(SchemaError) -> LocatedBSON {
        guard let member = self[name] else {
            throw SchemaError(
                .wrongValue, at: location, "the report has no \(name) here",
                remedy: "write it with this version of shipshape")
        }
        return member
    }

    private func value<T>(_ name: String, _ kind: String, _ value: (LocatedBSON) -> T?) throws(SchemaError) -> T {
        let member = try member(name)
        guard let value = value(member) else { throw member.failure("\(name) is \(member.kind), not \(kind)") }
        return value
    }

    fileprivate func string(_ name: String) throws(SchemaError) -> String { try value(name, "a string", \.text) }

    fileprivate func integer(_ name: String) throws(SchemaError) -> Int { try value(name, "a whole number", \.integer) }

    fileprivate func flag(_ name: String) throws(SchemaError) -> Bool { try value(name, "a boolean", \.bson.isTrue) }

    fileprivate func list<T>(
        _ name: String, _ read: (LocatedBSON) throws(SchemaError) -> T
    ) throws(SchemaError) -> [T] {
        try value(name, "an array", \.elements).map(read)
    }
}
