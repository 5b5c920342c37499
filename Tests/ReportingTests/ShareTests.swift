import Testing

@testable import Reporting

/// Tests that a share is shown as 0% or 100% only if it is exactly that.
@Suite struct ShareTests {
    @Test(arguments: [
        (0.0, "0%"), (1.0, "100%"), (0.5, "50%"), (0.999, "99.9%"), (0.99, "99%"), (0.999_99, "99.999%"),
        (1.0 / 3, "33.4%"), (2.0 / 3, "66.6%"), (0.002_11, "0.22%"), (0.000_001, "0.0001%"), (1e-9, "<0.0001%"),
        (0.999_999_999, "99.9999%"),
    ]) func text(_ part: Double, _ expected: String) { #expect(Share(part).text == expected) }

    @Test func nothingOfNothing() { #expect(Share(0, of: 0).text == "0%") }
}
