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

    /// Runs one benchmark: once to warm up, and then as often as requested.
    /// - Parameters:
    ///   - bytes: the bytes that one run reads or writes.
    ///   - items: how many of `unit` one run processes.
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
                // The minimum is taken, because a single run may have an allocation that the others do not have, such
                // as that of a table that grows once.
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

/// The allocations of this process, as the preloaded `Benchmarks/mallocs.c` counts them.
enum AllocationCounter {
    private typealias Function = @convention(c) () -> UInt

    private static let function: Function? = {
        // Without a handle, `dlsym` searches everything that is loaded.
        guard let symbol = unsafe dlsym(nil, "shipshape_mallocs") else { return nil }
        return unsafe unsafeBitCast(symbol, to: Function.self)
    }()

    /// The number of allocations of the process so far; `nil` if `mallocs.c` is not preloaded.
    static var count: Int? { function.map { Int($0()) } }
}
