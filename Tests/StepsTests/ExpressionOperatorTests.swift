import JobState
import JobsSupport
import Testing

@testable import Jobs
@testable import Steps

/// Tests that an expression may use only operators in the program's list, which are known to compute a value.
@Suite struct ExpressionOperatorTests {
    private func refusal(_ value: String, when: String? = nil) -> String? {
        let condition = when.map { ", when: \($0)" } ?? ""
        return Fixture.failure {
            try JobFile.parse(
                "job: a\ncollection: b.c\nsteps: [expression: {field: a, value: \(value)\(condition)}]", path: "j.yml")
        }
    }

    @Test(arguments: [
        "{$_internalJsEmit: {eval: 'x', this: $$ROOT.a}}", "{$cond: [true, {$_internalJsEmit: {}}, 1]}",
        "{$let: {vars: {x: {$_internalFieldRef: 1}}, in: $$x}}", "{a: {b: [{$_internalSortKey: 1}]}}",
        "{$toUpper: {$meta: textScore}}", "{$lookup: {}}", "{$notYetInvented: 1}",
        "{$map: {input: $a, in: {$accumulator: {}}}}",
    ])
    func unlistedOperatorsAreRefused(_ value: String) throws {
        let name =
            value.matches(of: /\$[_a-zA-Z]+(?=:)/).map { String($0.0) }.first { ExpressionOperator($0) == nil } ?? "?"
        let column =
            39 + value.distance(from: value.startIndex, to: try #require(value.firstRange(of: name)).lowerBound)
        let error = refusal(value)
        #expect(
            error?.hasPrefix("j.yml:3:\(column): an expression cannot use \(name): ") == true, "\(error ?? "taken")")
        #expect(refusal("1", when: value) != nil)
    }

    /// An operator that runs code is refused, whatever its arguments are.
    ///
    /// The value of a `$literal` is only data, so it is not checked.
    @Test func bodiesAreCompiledAndLiteralsAreData() {
        #expect(
            refusal("{$function: {body: {$_internalJsEmit: 1}, args: [], lang: js}}")?.contains("$function") == true)
        #expect(refusal("{$literal: '$_internalJsEmit'}") == nil)
        #expect(refusal("{$eq: [$a, {$literal: {x: [1, $$JS_SCOPE]}}]}") == nil)
    }

    @Test func aMisspelledOperatorIsReportedWithTheOneThatIsMeant() {
        #expect(
            refusal("{$toStrng: $a}")
                == "j.yml:3:40: an expression cannot use $toStrng: it is not one of the operators that only compute a "
                + "value (did you mean \"$toString\"?)")
    }

    @Test func anOperatorHasNoOtherKeys() {
        for value in ["{$toUpper: $a, b: 1}", "{b: 1, $toUpper: $a}", "{$toUpper: $a, $toLower: $a}"] {
            #expect(refusal(value)?.contains("must be the only key of its mapping") == true, "\(value)")
        }
    }

    @Test(arguments: ["$$CLUSTER_TIME", "$$JS_SCOPE.x", "$$USER_ROLES", "$$REMOVE", "$$DESCEND", "$$NEW_ONE.a"])
    func otherVariablesOfTheServerAreRefused(_ name: String) {
        #expect(refusal(name)?.hasPrefix("j.yml:3:39: an expression cannot use $$") == true)
        #expect(refusal("{$ifNull: [$a, \(name)]}") != nil)
    }

    @Test func knownOperatorsAreAccepted() {
        for value in [
            "$$NOW", "$$ROOT.a", "$$CURRENT.a", "{$let: {vars: {x: 1}, in: {$add: [$$x, 1]}}}",
            "{$date: '2026-01-01T00:00:00Z'}",
            "{$switch: {branches: [{case: {$gt: [$a, 1]}, then: 1}], default: 2}}",
            "{$setField: {field: b, input: $a, value: 1}}",
        ] {
            #expect(refusal(value) == nil, "\(value)")
        }
    }

    @Test func anOperatorOfALaterServerIsRefusedWhereItIsNotKnown() throws {
        let text =
            "job: a\ncollection: b.c\nsteps:\n  - expression: {field: a, value: {$add: [1, {$median: {input: $b}}]}}"
        let job = try CompiledJob(try JobFile.parse(text, path: "j.yml"), active: nil, next: nil)
        let error = try #require(throws: RunError.self) { try job.checkServer(wireVersion: 17) }
        #expect(
            error.message
                == "j.yml:4:5: $median needs MongoDB 7.0 or later, and this server is older (wire version 17)")
        try job.checkServer(wireVersion: 21)
    }
}
