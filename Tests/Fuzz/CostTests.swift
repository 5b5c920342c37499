import Foundation
import Testing

/// Tests that no reader costs more than the size of its input explains.
///
/// The inputs are generated shapes, because random changes of valid inputs never make, for example, a long chain of
/// types. `noInputIsTooMuch` has the same limit for random inputs.
@Suite(.serialized) struct CostTests {
    /// The largest cost of size 8, as a multiple of the cost of size 1.
    private static let mostGrowth = 12.0
    /// The costs below which a ratio says nothing, because the cost of any input has a constant part.
    private static let (leastAllocations, leastBytes, leastSeconds) = (3_000, 500_000, 0.02)

    @Test(arguments: Shape.all) func theCostGrowsWithTheSize(_ shape: Shape) throws {
        let folder = try FuzzFolder()
        defer { folder.remove() }
        let kind = try #require(try FuzzKind.all(in: folder).first { $0.name == shape.kind }, "\(shape)")
        let inputs = [1, 2, 4, 8].map { Array(shape.text($0).utf8) }
        try? kind.parse(inputs[0])
        let costs = inputs.map { input in Cost.measure { try kind.parse(input) } }
        for (input, cost) in zip(inputs, costs) {
            print(
                "cost of \(shape), \(input.count) bytes: \(cost.allocations) allocations, \(cost.bytes >> 10) KiB, "
                    + "\(cost.seconds) s"
            )
        }
        #expect(
            Double(costs[3].allocations) <= Self.mostGrowth * Double(max(costs[0].allocations, Self.leastAllocations)),
            "\(shape): \(costs)")
        #expect(
            Double(costs[3].bytes) <= Self.mostGrowth * Double(max(costs[0].bytes, Self.leastBytes)),
            "\(shape): \(costs)")
        // Another test on the same core can slow down a run, so a time above the limit is measured again.
        var (first, last) = (costs[0].seconds, costs[3].seconds)
        for _ in 0..<4 where last > Self.mostGrowth * max(first, Self.leastSeconds) {
            last = min(last, Cost.measure { try kind.parse(inputs[3]) }.seconds)
            first = max(first, Cost.measure { try kind.parse(inputs[0]) }.seconds)
        }
        #expect(last <= Self.mostGrowth * max(first, Self.leastSeconds), "\(shape): \(first) s, then \(last) s")
    }
}
