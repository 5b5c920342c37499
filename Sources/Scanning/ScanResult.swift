package import BSON
package import Checking

/// What a scan of a live collection found, and what it can promise of that.
package struct ScanResult: Sendable {
    /// The counts and the groups.
    package var tally: Tally
    /// The moment at which they are true; `nil` when they are of no single moment.
    package var clusterTime: ClusterTime?
    /// The documents that changed during the scan and were judged again.
    package var changedCount = 0
    /// What is not promised, and why.
    package var missing: [MissingGuarantee] = []
}
