internal import CMongoC

/// A detached thread of the system.
package enum PosixThread {
    /// What a thread of ours has: the checker recurses by the depth of documents.
    private static let stackSize = 8 << 20

    /// Starts a thread that runs `body` and ends.
    /// - Precondition: the system can start one more.
    package static func start(name: String, _ body: @Sendable @escaping () -> Void) {
        let start = unsafe Unmanaged.passRetained(Start(name: name, body: body))
        let status = unsafe cmongoc_start_thread(stackSize, { unsafe run($0) }, start.toOpaque())
        precondition(status == 0, "pthread_create failed with \(status)")
    }
}

private final class Start {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @Sendable @escaping () -> Void) {
        self.name = name
        self.body = body
    }
}

private func run(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context else { return nil }
    let start = unsafe Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
    unsafe cmongoc_name_thread(start.name)
    start.body()
    return nil
}
