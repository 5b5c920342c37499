/// Runs `body`, which may block, on a thread of its own and waits for it without blocking the caller's thread.
///
/// The thread has a stack of 8 MiB. Cancelling the task does not end the thread: bound what blocks by a timeout.
/// - Parameter name: what debuggers and `ps -L` show, cut to 15 bytes.
/// - Throws: what `body` throws.
package func onOwnedThread<R: Sendable, E: Error>(
    name: String, _ body: @Sendable @escaping () throws(E) -> R
) async throws(E) -> R {
    let result: Result<R, E> = await withCheckedContinuation { continuation in
        PosixThread.start(name: name) {
            do throws(E) {
                continuation.resume(returning: .success(try body()))
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
    }
    return try result.get()
}
