import Inferring
import Testing

/// Tests the upper bound for the share of hits in a population, which is computed from random draws by the method of
/// Clopper and Pearson.
@Suite struct BinomialBoundTests {
    @Test func noHitIsTheRuleOfThree() {
        let bound = BinomialBound.upper(0, of: 10_000, confidence: 0.95)
        // The exact bound is 1 - 0.05^(1/10000).
        #expect(abs(bound - 0.000_299_528) < 1e-8)
    }

    @Test(arguments: [(1, 10, 0.394_16), (5, 100, 0.102_25), (50, 1_000, 0.062_95)])
    func someHits(_ count: Int, _ draws: Int, _ expected: Double) {
        #expect(abs(BinomialBound.upper(count, of: draws, confidence: 0.95) - expected) < 2e-4)
    }

    @Test func nothingDrawnSaysNothing() {
        #expect(BinomialBound.upper(0, of: 0, confidence: 0.95) == 1)
        #expect(BinomialBound.upper(7, of: 7, confidence: 0.95) == 1)
    }

    @Test func itGrowsWithTheHits() {
        let bounds = (0...300).map { BinomialBound.upper($0, of: 5_000, confidence: 0.95) }
        #expect(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 })
        #expect(zip(0...300, bounds).allSatisfy { Double($0) / 5_000 < $1 })
    }
}
