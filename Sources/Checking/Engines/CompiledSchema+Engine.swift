import BSON
import ServerSchema

/// Judges the rules of a sync engine with ``EngineWalker``, after the rules of the schema.
///
/// The nodes of the engine have higher numbers than the nodes of the schema and of its constraints. The first of them
/// represents the document, and each other one represents a top-level field for which the engine has rules.
extension CompiledSchema {
    /// Whether the engine treats documents whose `_id`s have the same text as one document.
    package var comparesIDTexts: Bool { engine?.idText != nil }

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
        let isUnfit = engine.unfit != nil && collector.located.contains { $0.finding.level == .certain }
        let wantsInfo = collector.minimum == .info
        // Most documents that do not fit the schema break no rule of the engine. The engine's rules are therefore
        // judged first with a sink that keeps no paths, because it is faster.
        var quick = VerdictSink()
        if !wantsInfo { try EngineWalker(engine).document(document, into: &quick) }
        if wantsInfo || quick.verdict > .fits {
            try EngineWalker(engine, wantsInfo: wantsInfo).document(document, into: &collector)
        }
        guard isUnfit, let rule = engine.unfit else { return }
        collector.report(Finding(rule, .possible, node: engine.firstNode, Found(.object, .unfit)))
    }

    /// Returns the rule of the engine that a finding breaks; `nil` for the findings of a schema.
    func engineRule(of located: FindingCollector.Located) -> EngineRule? {
        guard let engine, Int(located.finding.node) >= engine.firstNode else { return nil }
        return EngineRule.named(located.finding.rule.code)
    }

    /// Returns a description of the value that the engine expects; `nil` for the findings of a schema.
    func engineExpectation(of located: FindingCollector.Located) -> String? {
        guard let engine, let rule = engineRule(of: located) else { return nil }
        let field = Int(located.finding.node) - engine.firstNode - 1
        let isOwnRule = field >= 0 && engine.fields[field].rule == located.finding.rule
        return (isOwnRule ? engine.expectations[field] : nil) ?? rule.expected
    }
}

extension EnginePlan {
    /// The path of each node of the plan: of the document, and of each field.
    var paths: [SchemaPath] { [SchemaPath()] + names.map { SchemaPath([.field($0)]) } }
}

extension FilterBuilder {
    /// Returns a filter for the documents with a finding of the engine, and whether it matches only these documents.
    func engineFilter(for located: FindingCollector.Located) -> (document: BSONDocument, isExact: Bool) {
        // The server has no operator that reads the second field of a name, or a name that is not UTF-8.
        if located.finding.found.detail == .invalidName || located.finding.found.detail == .repeatedName {
            return (["$expr": true], false)
        }
        let condition = EngineCondition(located.finding, of: schema.engine)
        if let size = condition.size {
            return (["$expr": ["$gt": [["$bsonSize": "$$ROOT"], size]]], condition.isExact)
        }
        let steps = schema.path(of: located).steps
        let isWhole = steps.count <= Self.maximumSteps
        let expression = expression(steps.prefix(Self.maximumSteps), of: nil, depth: 1) { value in
            isWhole ? condition.holds(for: value) : ["$in": [["$type": value], ["array", "object"]]]
        }
        return (["$expr": expression], condition.isExact && isWhole)
    }
}

/// An aggregation expression that is true for values that have a given finding of an engine.
struct EngineCondition {
    private let finding: Finding
    private let limits: EnginePlan.Limits
    private let field: EnginePlan.Field?
    private let dates: ClosedRange<Int64>?

    init(_ finding: Finding, of plan: EnginePlan?) {
        self.finding = finding
        limits = plan?.limits ?? EnginePlan.Limits()
        let index = Int(finding.node) - (plan?.firstNode ?? 0) - 1
        field = index >= 0 ? plan?.fields[index] : nil
        dates = plan?.tests.first { $0.rule == finding.rule && $0.kind == .dateOutside }.map { $0.low...$0.high }
    }

    /// Whether the expression matches only values that have the finding.
    var isExact: Bool {
        switch finding.found.detail {
        // The server cannot find exactly the values with one of these findings. For example, it has no operator for
        // the depth of a value, or for the text of a value in SQLite or JSON.
        case .nestedDeeper, .largerAsJSON, .equalText, .unfit, .number, .notNumber, .exponent, .otherLength, .inexact,
            .longer, .wrongLength, .unreadable, .falsy, .invalidText, .invalidName, .repeatedName, .prototypeName:
            false
        default: true
        }
    }

    /// Returns an expression that is true if the value of the expression `value` has the finding.
    func holds(for value: BSONValue) -> BSONValue {
        let found = finding.found
        let isOfType = Expression.type(value, is: "\(found.type)")
        switch found.detail {
        case .notANumber: return Expression.guarded(isOfType, ["$eq": [value, .double(.nan)]])
        case .infinity:
            return Expression.guarded(isOfType, ["$in": [value, [.double(.infinity), .double(-.infinity)]]])
        case .fraction: return Expression.guarded(isOfType, ["$ne": [value, ["$trunc": value]]])
        case .beyondInt64 where found.type == .timestamp:
            return Expression.guarded(isOfType, ["$gte": [value, .timestamp(1 << 63)]])
        case .beyondInt64:
            return Expression.guarded(
                isOfType, ["$or": [["$lt": [value, .long(.min)]], ["$gt": [value, .long(.max)]]]])
        case .dateOutOfRange: return Expression.guarded(isOfType, outside(dates, value) { .date(milliseconds: $0) })
        case .numberOutOfRange:
            let range = field.map { $0.low...$0.high }
            return Expression.guarded(isOfType, outside(range, value) { .long($0) })
        case .sixteenBytes: return Expression.guarded(isOfType, subtype(of: value))
        case .moreFields: return ["$gt": [["$size": ["$objectToArray": value]], .integer(limits.fields.most + 1)]]
        case .missing: return Expression.type(value, is: "missing")
        case .unfit: return true
        default: return isOfType
        }
    }

    /// The size in bytes above which a document can have the finding; `nil` for a finding that depends on no size.
    var size: BSONValue? {
        switch finding.found.detail {
        case .larger: .integer(documentSize)
        case .largerAsJSON: .integer(limits.leastRowSize)
        default: nil
        }
    }

    private var documentSize: Int {
        [limits.size, limits.secondSize].first { $0.rule == finding.rule && $0.most < .max }?
            .most ?? 0
    }

    private func outside(
        _ range: ClosedRange<Int64>?, _ value: BSONValue, _ bound: (Int64) -> BSONValue
    ) -> BSONValue {
        guard let range else { return true }
        return ["$or": [["$lt": [value, bound(range.lowerBound)]], ["$gt": [value, bound(range.upperBound)]]]]
    }

    /// Returns an expression that is true if the value is 16 bytes of binary data with the subtype of the finding.
    ///
    /// MongoDB sorts binary data of one length by subtype, so the expression compares the value with two bounds.
    private func subtype(of value: BSONValue) -> BSONValue {
        func bound(_ byte: UInt8) -> BSONValue {
            .binary(subtype: finding.found.subtype, bytes: Array(repeating: byte, count: 16))
        }
        return Expression.and([
            ["$eq": [["$binarySize": value], 16]], ["$gte": [value, bound(0)]], ["$lte": [value, bound(0xFF)]],
        ])
    }
}
