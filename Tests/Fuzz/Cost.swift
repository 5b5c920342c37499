import AllocationCounter
import Foundation

/// The work of a reader: the allocations of the thread, and its processor time.
///
/// The number of allocations and of their bytes is the same in each run, whatever else the machine does.
struct Cost {
    let allocations: Int
    let bytes: Int
    let seconds: Double

    /// Measures the cost of `body`; its errors are ignored, because a refusal has a cost too.
    static func measure(_ body: () throws -> Void) -> Cost {
        let before = (countedAllocations(), countedBytes(), processorTime)
        try? body()
        return Cost(
            allocations: Int(countedAllocations() - before.0), bytes: Int(countedBytes() - before.1),
            seconds: processorTime - before.2)
    }

    private static var processorTime: Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
