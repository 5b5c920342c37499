/// How much the tests do that can do more or less: random jobs, kills, documents.
///
/// `SHIPSHAPE_TEST_SCALE` says which, as `scripts/test`, `scripts/test --full` and `scripts/torture` set it.
package enum TestScale: String, Sendable {
    /// Some of each: what one waits for.
    case short
    /// Each place and each kind at least once: what CI runs.
    case full
    /// What looks for hours for what no run has found yet.
    case torture

    /// That of this run.
    package static let current: TestScale = {
        guard let name = environmentVariable("SHIPSHAPE_TEST_SCALE") else { return .short }
        guard let scale = TestScale(rawValue: name) else {
            fatalError("SHIPSHAPE_TEST_SCALE=\(name) is none of short, full, torture")
        }
        return scale
    }()

    /// The value for this run.
    package static func pick<Value>(_ short: Value, full: Value, torture: Value) -> Value {
        switch current {
        case .short: short
        case .full: full
        case .torture: torture
        }
    }
}
