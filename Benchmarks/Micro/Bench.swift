import Glibc

/// Runs the benchmarks, and keeps their measurements.
struct Bench {
    let repetitions: Int
    let only: String?
    private(set) var results: [Measurement] = []

    init(repetitions: Int, only: String?) {
        self.repetitions = repetitions
        self.only = only
    }

    /// Runs the benchmark if it is requested: once without measuring, and then `repetitions` times.
    /// - Parameters:
    ///   - bytes: the number of bytes that each run reads or writes.
    ///   - items: the number of items that each run processes; `unit` is their name.
    mutating func measure(
        _ name: String, bytes: Int, items: Int, of unit: String, _ body: () throws -> Void
    ) rethrows {
        guard isAsked(name) else { return }
        try body()
        var seconds: [Double] = []
        var allocations: [Int] = []
        for _ in 0..<repetitions {
            let (start, before) = (Self.processorTime, AllocationCounter.count)
            try body()
            seconds.append(Self.processorTime - start)
            if let before, let after = AllocationCounter.count { allocations.append(after - before) }
        }
        results.append(
            Measurement(
                name: name, bytes: bytes, items: items, unit: unit, seconds: seconds.sorted(),
                // The minimum is reported, because a single run may have additional allocations, for example if a table
                // grows once.
                allocations: allocations.min()))
    }

    func isAsked(_ name: String) -> Bool { only.map(name.contains) ?? true }

    /// The processor time of this thread so far, in seconds.
    private static var processorTime: Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// The number of allocations of this process, which the preloaded `Benchmarks/mallocs.c` counts.
enum AllocationCounter {
    private typealias Function = @convention(c) () -> UInt

    private static let function: Function? = {
        // Without a handle, `dlsym` searches all loaded libraries.
        guard let symbol = unsafe dlsym(nil, "shipshape_mallocs") else { return nil }
        return unsafe unsafeBitCast(symbol, to: Function.self)
    }()

    /// The number of allocations of the process so far; `nil` if `mallocs.c` is not preloaded.
    static var count: Int? { function.map { Int($0()) } }
}
