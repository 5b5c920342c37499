import BSON
import Concurrency
import Mongo
import Synchronization
import SystemPackage

/// Reads and validates the documents of a file on a thread of its own, a few blocks ahead of who looks at them.
///
/// They are lent in the order of the file, and damage is told once what is in front of it was lent: all is as if one thread
/// did both.
final class ReadAhead: Sendable {
    private struct State {
        /// Blocks of whole documents that wait to be looked at; an empty one is the end.
        var full: [[UInt8]] = []
        /// Blocks whose room can be used again.
        var empty: [[UInt8]] = []
        /// Why the end came early.
        var failure: DumpError?
        /// Whether nobody looks any more.
        var isAbandoned = false
    }

    /// How many blocks there are, and the bytes that each has, beyond which only one document more is put in.
    private static let (blocks, size) = (2, 1 << 20)

    private let state = Mutex(State())
    private let filled = Semaphore()
    private let freed = Semaphore()

    /// Begins to read.
    init(of path: FilePath) {
        for _ in 0..<Self.blocks { freed.signal() }
        PosixThread.start(name: "read ahead") { [self] in fill(from: path) }
    }

    /// Lends every document, and ends the reading where `body` throws.
    /// - Throws: ``DumpError``, or what `body` throws.
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
            // The room of a very large document is given back.
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
