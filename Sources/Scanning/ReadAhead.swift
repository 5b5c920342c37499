import BSON
import Concurrency
import Mongo
import Synchronization
import SystemPackage

/// Reads and validates the documents of a file on its own thread, a few blocks before another thread uses them.
///
/// The documents come in the order of the file. Damage is reported after the documents before it were used, as if one
/// thread read and used the documents.
final class ReadAhead: Sendable {
    private struct State {
        /// The blocks of whole documents that were read but not used yet; an empty block marks the end of the reading.
        var full: [[UInt8]] = []
        /// The blocks that were used, whose memory is free for other documents.
        var empty: [[UInt8]] = []
        /// The error that ended the reading early; `nil` if there was none.
        var failure: DumpError?
        /// Whether the thread that uses the documents needs no more of them.
        var isAbandoned = false
    }

    /// The number of blocks, and the size in bytes at which a block is full.
    ///
    /// A block ends with the document that makes it full, so most blocks are somewhat larger.
    private static let (blocks, size) = (2, 1 << 20)

    private let state = Mutex(State())
    private let filled = Semaphore()
    private let freed = Semaphore()

    /// Starts to read a file on another thread.
    init(of path: FilePath) {
        for _ in 0..<Self.blocks { freed.signal() }
        PosixThread.start(name: "read ahead") { [self] in fill(from: path) }
    }

    /// Calls `body` with every document, and ends the reading if `body` throws.
    /// - Throws: ``DumpError``, or an error of `body`.
    func read(_ body: (borrowing BSONView) throws -> Void) throws {
        defer {
            state.withLock { $0.isAbandoned = true }
            freed.signal()
        }
        while true {
            filled.wait()
            let block = state.withLock { $0.full.removeFirst() }
            guard !block.isEmpty else { break }
            try Self.lend(block, to: body)
            // A block that had a very large document is released, and not used for other documents.
            if block.capacity <= 2 * Self.size { state.withLock { $0.empty.append(block) } }
            freed.signal()
        }
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    private static func lend(_ block: [UInt8], to body: (borrowing BSONView) throws -> Void) throws {
        let bytes = unsafe block.span.bytes
        var start = 0
        while start < block.count {
            let length = unsafe Int(
                Int32(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: start, as: Int32.self)))
            try body(try BSONView(bytes.extracting(start..<start + length)))
            start += length
        }
    }

    private func fill(from path: FilePath) {
        do throws(DumpError) {
            var reader = try BSONFileReader(path, validating: true)
            while true {
                freed.wait()
                guard var block = state.withLock({ $0.isAbandoned ? nil : $0.empty.popLast() ?? [] }) else { return }
                try reader.next(into: &block, bytes: Self.size)
                let isOver = block.isEmpty
                state.withLock { $0.full.append(block) }
                filled.signal()
                if isOver { return }
            }
        } catch {
            state.withLock { state in
                state.failure = error
                state.full.append([])
            }
            filled.signal()
        }
    }
}
