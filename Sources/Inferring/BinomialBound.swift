import Foundation

/// Computes an upper bound for the share of hits in a population, from the number of hits among random draws.
package enum BinomialBound {
    /// Returns the one-sided upper bound of Clopper and Pearson (1934) for the share of hits.
    ///
    /// With the probability `confidence`, the share is not larger than the bound. For 0 hits and a confidence of 95%,
    /// the bound is about 3 / `draws`, the rule of three.
    /// - Parameters:
    ///   - count: the number of draws that were hits.
    ///   - confidence: the probability that the bound holds, such as 0.95.
    package static func upper(_ count: Int, of draws: Int, confidence: Double) -> Double {
        guard draws > 0, count < draws else { return 1 }
        var (low, high) = (Double(count) / Double(draws), 1.0)
        for _ in 0..<60 {
            let middle = (low + high) / 2
            if atMost(count, of: draws, share: middle) > 1 - confidence { low = middle } else { high = middle }
        }
        return high
    }

    /// Returns the probability of at most `count` hits at the given share.
    ///
    /// The sum begins with its largest term, so that it can end as soon as the other terms are negligible.
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
            // The caller passes only shares that are greater than `hits / n`, so each term is smaller than the term
            // before it. Once a term is negligible, the sum of all later terms is negligible, too.
            if term < sum * 1e-15 { break }
            let ratio: Double = hits / (n - hits + 1)
            term *= ratio * (1 - share) / share
            hits -= 1
        }
        return min(1, sum)
    }
}
