package import Files
import Reporting
internal import Synchronization
import SystemPackage

/// The file that the flag `--failures` names; it has one line for each document that fails a check or that a backfill
/// skips.
///
/// All threads of a run add lines.
package final class FailuresFile: Sendable {
    private let path: String
    private let state: Mutex<State>
    private let failed = Atomic<Bool>(false)
    /// Another file that gets the same lines; `nil` for none.
    private let copy: FailuresFile?

    /// The number of bytes that are collected before they are written to the file.
    private static var bufferSize: Int { 1 << 18 }

    private struct State {
        /// The open file; `nil` after it is complete or discarded.
        var file: AtomicFile?
        var buffer: [UInt8] = []
        var error: (any Error)?
    }

    /// Opens the file for writing.
    /// - Parameter copy: another file that gets the same lines.
    /// - Throws: ``OutputError``.
    package init(_ path: String, copiedTo copy: FailuresFile? = nil) throws {
        (self.path, self.copy) = (path, copy)
        do {
            state = Mutex(State(file: try AtomicFile(path)))
        } catch {
            throw Self.failure(path, error)
        }
    }

    /// Whether a line could not be written.
    ///
    /// If `true`, a scan stops, because its result would be lost.
    package var hasFailed: Bool { failed.load(ordering: .relaxed) || copy?.hasFailed == true }

    /// Adds a line; an error is thrown later, by ``finish(_:)``.
    package func add(_ line: String) {
        copy?.add(line)
        state.withLock { state in
            guard state.error == nil else { return }
            state.buffer.append(contentsOf: line.utf8)
            state.buffer.append(UInt8(ascii: "\n"))
            if state.buffer.count >= Self.bufferSize { flush(&state) }
        }
    }

    /// Adds the last line and completes the file.
    /// - Throws: ``OutputError`` for any error since the file was opened; the file is then removed.
    package func finish(_ line: String) throws {
        add(line)
        try commit()
        try copy?.commit()
    }

    private func commit() throws {
        try state.withLock { state in
            flush(&state)
            guard let file = state.file.take() else { return }
            if let error = state.error {
                file.discard()
                throw Self.failure(path, error)
            }
            do { try file.commit() } catch { throw Self.failure(path, error) }
        }
    }

    /// The first error in writing to the file, or else to its copy; `nil` if there was none.
    package var error: OutputError? { state.withLock { $0.error.map { Self.failure(path, $0) } } ?? copy?.error }

    /// Removes the file if it is not complete, for a command that does not finish.
    package func discard() {
        state.withLock { $0.file.take()?.discard() }
        copy?.discard()
    }

    private func flush(_ state: inout State) {
        guard state.error == nil, let file = state.file else { return }
        do {
            try file.write(state.buffer)
            state.buffer.removeAll(keepingCapacity: true)
        } catch {
            state.error = error
            failed.store(true, ordering: .relaxed)
        }
    }

    private static func failure(_ path: String, _ reason: any Error) -> OutputError {
        OutputError(description: "cannot write the failures file \(path): \(reason)")
    }
}
