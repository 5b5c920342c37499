import Foundation

/// What a count among random draws says of the share that it stands for.
package enum BinomialBound {
    /// The share of which a larger one is to be rejected: the upper bound of Clopper and Pearson (1934), one-sided.
    ///
    /// With `count` 0 and a confidence of 95% it is about 3 / `draws`, the rule of three.
    /// - Parameters:
    ///   - count: how many of the draws were hits.
    ///   - confidence: how sure the bound is to hold, such as 0.95.
    package static func upper(_ count: Int, of draws: Int, confidence: Double) -> Double {
        guard draws > 0, count < draws else { return 1 }
        var (low, high) = (Double(count) / Double(draws), 1.0)
        for _ in 0..<60 {
            let middle = (low + high) / 2
            if atMost(count, of: draws, share: middle) > 1 - confidence { low = middle } else { high = middle }
        }
        return high
    }

    /// How likely at most `count` hits are, when that share hits: the sum of the terms, from the largest down.
    private static func atMost(_ count: Int, of draws: Int, share: Double) -> Double {
        guard share > 0 else { return 1 }
        guard share < 1 else { return 0 }
        let n = Double(draws)
        var hits = Double(count)
        let combinations: Double = lgamma(n + 1) - lgamma(hits + 1) - lgamma(n - hits + 1)
        let chances: Double = hits * log(share) + (n - hits) * log1p(-share)
        var term: Double = exp(combinations + chances)
        var sum = 0.0
        while hits >= 0, term > 0 {
            sum += term
            // Below the mean, where the bound is looked for, terms fall towards 0 hits.
            if term < sum * 1e-15 { break }
            let ratio: Double = hits / (n - hits + 1)
            term *= ratio * (1 - share) / share
            hits -= 1
        }
        return min(1, sum)
    }
}
