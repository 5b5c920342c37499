/// A value that is made only once, even if several tasks ask for it at the same time.
actor AsyncOnce<Value: Sendable> {
    private let make: @Sendable () async throws -> Value
    private var task: Task<Value, any Error>?

    init(_ make: @Sendable @escaping () async throws -> Value) { self.make = make }

    var value: Value {
        get async throws {
            let running = task ?? Task { [make] in try await make() }
            task = running
            return try await running.value
        }
    }
}

/// A lock that only one task at a time can hold, also while the task awaits.
actor AsyncLock {
    private var isHeld = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func acquire() async {
        guard isHeld else {
            isHeld = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    func release() {
        if waiting.isEmpty { isHeld = false } else { waiting.removeFirst().resume() }
    }

    /// Runs `body` while no other task runs a body with this lock.
    nonisolated func withLock<R>(_ body: () async throws -> R) async throws -> R {
        await acquire()
        do {
            let result = try await body()
            await release()
            return result
        } catch {
            await release()
            throw error
        }
    }
}
