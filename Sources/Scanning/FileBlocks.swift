import BSON
import Synchronization
import SystemPackage

/// Hands out the documents of a file to several threads, in blocks of whole documents.
///
/// The thread that takes a block validates it. Blocks are handed out in the order of the file. After all threads have
/// ended, ``failure`` is therefore the first damage in the file.
final class FileBlocks: Sendable {
    /// The position of a document in the file.
    struct Place {
        /// The number of documents before this document.
        var documents: Int
        /// The number of bytes before this document.
        var offset: Int64
    }

    private struct State: ~Copyable {
        var reader: BSONFileReader
        var failure: DumpError?
        var isOver = false

        mutating func end(by error: DumpError) {
            isOver = true
            if let failure, failure.offset <= error.offset { return }
            failure = error
        }
    }

    /// The size of a block in bytes: a core's cache has room for a block and for the data of the checker.
    ///
    /// A block is larger only if it contains a document that is larger than this size.
    private static let size = 256 << 10

    private let state: Mutex<State>
    private let path: FilePath

    /// Opens the file at `path`.
    init(of path: FilePath) throws(DumpError) {
        self.path = path
        state = Mutex(State(reader: try BSONFileReader(path, bufferSize: Self.size)))
    }

    /// The error that ended the reading early; `nil` if there was none.
    ///
    /// The value is final after all threads have ended.
    var failure: DumpError? { state.withLock { $0.failure } }

    /// Reads the next documents of the file into `block`, where they follow each other without gaps.
    /// - Returns: The range of the block that holds the documents, and the position in the file at which the first of
    ///   them begins; `nil` if the file has no more documents, if it cannot be read further, or if a thread has ended
    ///   the reading.
    func next(in block: inout [UInt8]) -> (range: Range<Int>, place: Place)? {
        // Release the memory of a very large document in the previous block.
        if block.count > 2 * Self.size { block = [] }
        return state.withLock { state in
            guard !state.isOver else { return nil }
            let place = Place(documents: state.reader.documents, offset: state.reader.bytesRead)
            do throws(DumpError) {
                if let range = try state.reader.next(exchanging: &block) { return (range, place) }
                state.isOver = true
            } catch { state.end(by: error) }
            return nil
        }
    }

    /// Ends the reading because a document is damaged.
    func end(by damage: BSONError, in document: Place) {
        let error = DumpError(damage, path: path, documentOffset: document.offset, documents: document.documents)
        state.withLock { $0.end(by: error) }
    }

    /// Ends the reading because the caller needs no more documents.
    func close() { state.withLock { $0.isOver = true } }
}
