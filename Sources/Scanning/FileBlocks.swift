import BSON
import Synchronization
import SystemPackage

/// Hands out the documents of a file to several threads, in blocks of whole documents, in the order of the file.
///
/// The thread that takes a block validates it. All earlier blocks were handed out before, so once all threads have
/// ended, the damage that is known is the first one in the file.
final class FileBlocks: Sendable {
    /// The position of a document in the file.
    struct Place {
        /// The number of documents before it.
        var documents: Int
        /// The number of bytes before it.
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

    /// The bytes of a block of small documents; a core's cache holds it as well as the checker's own data.
    private static let size = 256 << 10

    private let state: Mutex<State>
    private let path: FilePath

    /// Opens a file.
    init(of path: FilePath) throws(DumpError) {
        self.path = path
        state = Mutex(State(reader: try BSONFileReader(path, bufferSize: Self.size)))
    }

    /// The reason why the reading ended early; final once all threads have ended.
    var failure: DumpError? { state.withLock { $0.failure } }

    /// Returns the next documents, one after the other in a range of `block`; `nil` if there are none, or after an end.
    func next(in block: inout [UInt8]) -> (range: Range<Int>, place: Place)? {
        // Release the memory of a very large document.
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

    /// Ends the reading because no more documents are wanted.
    func close() { state.withLock { $0.isOver = true } }
}
