/// How many random jobs, kills and documents a test tries, for tests in which this number is variable.
///
/// The variable `SHIPSHAPE_TEST_SCALE` sets the scale. `scripts/test --full` and `scripts/torture` set that variable.
package enum TestScale: String, Sendable {
    /// Some of the cases, for a developer who waits for the result.
    case short
    /// Each fault point and each kind of case at least once, for CI.
    case full
    /// Many random cases for hours, to find failures that no run has found yet.
    case torture

    /// The scale of this test run; `short` if `SHIPSHAPE_TEST_SCALE` is not set.
    package static let current: TestScale = {
        guard let name = environmentVariable("SHIPSHAPE_TEST_SCALE") else { return .short }
        guard let scale = TestScale(rawValue: name) else {
            fatalError("SHIPSHAPE_TEST_SCALE=\(name) is none of short, full, torture")
        }
        return scale
    }()

    /// Returns the value for this run's scale.
    package static func pick<Value>(_ short: Value, full: Value, torture: Value) -> Value {
        switch current {
        case .short: short
        case .full: full
        case .torture: torture
        }
    }

    /// Returns about `count` of the cases, spread evenly: twice as many for the scale ``full``, all for ``torture``.
    ///
    /// `SHIPSHAPE_TEST_SEED`, a number, selects which ones.
    package static func drawn<Case>(_ cases: [Case], _ count: Int) -> [Case] {
        let count = pick(count, full: 2 * count, torture: cases.count)
        guard cases.count > count else { return cases }
        let stride = cases.count / count
        let first = (environmentVariable("SHIPSHAPE_TEST_SEED").flatMap { Int($0) } ?? 0) % stride
        return Swift.stride(from: first, to: cases.count, by: stride).map { cases[$0] }
    }
}
