import BSON
import ServerSchema

/// Judges the rules of a sync engine with ``EngineWalker``, after the rules of the schema.
///
/// The nodes of the engine have higher numbers than the nodes of the schema and of its constraints. The first of them
/// represents the document, and each other one represents a top-level field for which the engine has rules.
extension CompiledSchema {
    /// Whether the engine treats documents whose `_id`s have the same text as one document.
    package var comparesIDTexts: Bool { engine?.facts[.idText] != nil }

    @inline(__always)
    func checkEngine(_ document: borrowing BSONView, _ verdict: Verdict) throws(BSONError) -> Verdict {
        guard verdict < .certain else { return verdict }
        var sink = VerdictSink()
        let plans = engines.span
        try EngineWalker(plans[0]).document(document, into: &sink)
        return max(verdict, sink.verdict)
    }

    func collectEngine(_ document: borrowing BSONView, into collector: inout FindingCollector) throws(BSONError) {
        guard let engine else { return }
        let unfit = engine.facts[.schema]
        let isUnfit = unfit != nil && collector.located.contains { $0.finding.level == .certain }
        let wantsInfo = collector.minimum == .info
        // Most documents that do not fit the schema break no rule of the engine. The engine's rules are therefore
        // judged first with a sink that keeps no paths, because it is faster.
        var quick = VerdictSink()
        if !wantsInfo { try EngineWalker(engine).document(document, into: &quick) }
        if wantsInfo || quick.verdict > .fits {
            try EngineWalker(engine, wantsInfo: wantsInfo).document(document, into: &collector)
        }
        guard isUnfit, let unfit else { return }
        collector.report(Finding(unfit, .possible, node: engine.firstNode, Found(.object, .unfit)))
    }

    /// Returns the rule of the engine that a finding breaks; `nil` for the findings of a schema.
    func engineRule(of located: FindingCollector.Located) -> EngineRule? {
        guard let engine, Int(located.finding.node) >= engine.firstNode else { return nil }
        return EngineRule.byRule[located.finding.rule]
    }

    /// Returns a description of the value that the engine expects; `nil` for the findings of a schema.
    func engineExpectation(of located: FindingCollector.Located) -> String? {
        guard let engine, let rule = engineRule(of: located) else { return nil }
        let field = Int(located.finding.node) - engine.firstNode - 1
        let isOwnRule = field >= 0 && engine.fields[field].rule == located.finding.rule
        return (isOwnRule ? engine.expectations[field] : nil) ?? rule.expected
    }
}

extension FilterBuilder {
    /// Returns a filter for the documents with a finding of the engine.
    func filter(for located: FindingCollector.Located, of plan: EnginePlan) -> GroupFilter {
        let (finding, detail) = (located.finding, located.finding.found.detail)
        // The server has no operator that reads the second field of a name, or a name that is not UTF-8.
        if detail == .invalidName || detail == .repeatedName {
            return GroupFilter(long: ["$expr": true], isExact: false)
        }
        if let size = plan.size(for: finding) {
            return GroupFilter(
                long: ["$expr": ["$gt": [["$bsonSize": "$$ROOT"], size]]], isExact: detail == .larger)
        }
        let steps = schema.path(of: located).steps
        let isWhole = steps.count <= Self.maximumSteps
        let expression = expression(steps.prefix(Self.maximumSteps), of: nil, depth: 1) { value in
            isWhole ? plan.condition(finding, value).expression : ["$in": [["$type": value], ["array", "object"]]]
        }
        return GroupFilter(
            long: ["$expr": expression], isExact: isWhole && plan.condition(finding, "$$ROOT").isExact,
            query: plan.query(finding))
    }
}

extension EnginePlan {
    /// The path of each node of the plan: of the document, and of each field.
    var paths: [SchemaPath] { [SchemaPath()] + names.map { SchemaPath([.field($0)]) } }

    /// Returns an expression that is true for the values of the expression `value` that can have a finding.
    ///
    /// If the expression is not exact, other values match, too: the server has no operator for some findings, such as
    /// the depth of a value, or its text in SQLite or JSON.
    fileprivate func condition(_ finding: Finding, _ value: BSONValue) -> (expression: BSONValue, isExact: Bool) {
        let found = finding.found
        let isOfType = Expression.type(value, is: "\(found.type)")
        func guarded(_ condition: BSONValue) -> (BSONValue, Bool) { (Expression.guarded(isOfType, condition), true) }
        switch found.detail {
        case .beyondInt64 where found.type == .timestamp: return guarded(["$gte": [value, .timestamp(1 << 63)]])
        case .notANumber, .infinity, .fraction, .beyondInt64:
            return guarded(Expression.and(found.number(value, for: .long)))
        case .dateOutOfRange, .numberOutOfRange:
            guard let (low, high) = range(of: finding) else { break }
            return guarded(["$or": [["$lt": [value, low]], ["$gt": [value, high]]]])
        case .sixteenBytes: return guarded(found.subtypeOfSixteenBytes(value))
        case .moreFields:
            let tooMany = BSONValue.integer(most(.fields, finding) + 1)
            return (["$gt": [["$size": ["$objectToArray": value]], tooMany]], true)
        case .missing: return (Expression.type(value, is: "missing"), true)
        case .none: return (isOfType, true)
        case .unfit: return (true, false)
        default: break
        }
        return (isOfType, false)
    }

    /// Returns the same condition as a query; `nil` if no query operators express it.
    fileprivate func query(_ finding: Finding) -> FieldQuery? {
        let found = finding.found
        switch found.detail {
        case .beyondInt64 where found.type == .timestamp:
            return FieldQuery(found.type, [("$gte", .timestamp(1 << 63))])
        case .notANumber, .infinity: return found.query(for: .long)
        case .dateOutOfRange, .numberOutOfRange:
            return range(of: finding).map { FieldQuery(found.type, failing: [("$gte", $0.low), ("$lte", $0.high)]) }
        case .sixteenBytes: return found.queryOfSixteenBytes
        case .missing: return .missing
        case .fraction, .beyondInt64, .moreFields, .unfit: return nil
        default: return FieldQuery(found.type)
        }
    }

    /// Returns the lowest and the highest value that does not have the finding; `nil` if the plan states none.
    private func range(of finding: Finding) -> (low: BSONValue, high: BSONValue)? {
        if finding.found.detail == .numberOutOfRange {
            let field = fields[Int(finding.node) - firstNode - 1]
            return (.long(field.low), .long(field.high))
        }
        for test in tests where test.rule == finding.rule {
            guard case .dateOutside(let low, let high) = test.test else { continue }
            return (.date(milliseconds: low), .date(milliseconds: high))
        }
        return nil
    }

    /// Returns the size in bytes above which a document can have a finding; `nil` for one that depends on no size.
    fileprivate func size(for finding: Finding) -> BSONValue? {
        switch finding.found.detail {
        case .larger: .integer(most(.size, finding))
        case .largerAsJSON: .integer(facts.leastRowSize)
        default: nil
        }
    }

    private func most(_ measure: EngineRule.Measure, _ finding: Finding) -> Int {
        limits.first { $0.measure == measure && $0.rule == finding.rule }?.most ?? 0
    }
}
