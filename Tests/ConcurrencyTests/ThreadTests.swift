import Concurrency
import Glibc
import Synchronization
import Testing

@Suite struct ThreadTests {
    @Test(.timeLimit(.minutes(10))) func blockingWorkDoesNotBlockTheCooperativePool() async {
        // Each task waits for all others. There are more tasks than threads in Swift's cooperative pool, so the tasks
        // would wait forever if they blocked the pool's threads.
        let arrivals = Arrivals()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    await onOwnedThread(name: "waiter") {
                        arrivals.count.add(1, ordering: .relaxed)
                        while arrivals.count.load(ordering: .relaxed) < 64 { _ = usleep(10_000) }
                    }
                }
            }
        }
        #expect(arrivals.count.load(ordering: .relaxed) == 64)
    }

    @Test func theBodyRunsOnAThreadOfItsName() async throws {
        let name = await onOwnedThread(name: "a name that is far too long") {
            (try? String(decoding: readAll("/proc/thread-self/comm"), as: UTF8.self)) ?? ""
        }
        #expect(name == "a name that is \n")
    }

    @Test func theStackIsDeep() async {
        // Each level of the recursion needs a kilobyte of stack, and several kilobytes in a debug build.
        let depth = await onOwnedThread(name: "deep") { descend(1_500) }
        #expect(depth == 1_500)
    }

    @Test func errorsOfTheThreadAreRethrown() async {
        await #expect(throws: Refused.self) {
            try await onOwnedThread(name: "thrower") { () throws(Refused) -> Int in throw Refused() }
        }
    }
}

private struct Refused: Error {}

/// Recurses `depth` times; each level uses a kilobyte of stack that the optimiser cannot remove.
@inline(never)
private func descend(_ depth: Int) -> Int {
    let filler = InlineArray<1_024, UInt8>(repeating: UInt8(truncatingIfNeeded: depth))
    guard depth > 0 else { return 0 }
    return 1 + descend(depth - 1) + Int(filler[depth % 1_024] &- UInt8(truncatingIfNeeded: depth))
}

private func readAll(_ path: String) throws -> [UInt8] {
    let file = unsafe open(path, O_RDONLY)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = unsafe read(file, &bytes, bytes.count)
    return Array(bytes.prefix(max(0, count)))
}

private final class Arrivals: Sendable {
    let count = Atomic<Int>(0)
}
