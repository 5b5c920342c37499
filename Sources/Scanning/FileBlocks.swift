import BSON
import Synchronization
import SystemPackage

/// Gives the documents of a file to several threads, a block of whole ones at a time, in the order of the file.
///
/// Who takes a block validates it. All blocks in front of one were taken before it, so that the damage that is known once
/// every thread has ended is the first of the file.
final class FileBlocks: Sendable {
    /// Where the first document of a block stands.
    struct Place {
        /// The documents in front of it.
        var documents: Int
        /// The bytes in front of it.
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

    /// The bytes of a block of small documents: what a core's cache holds beside the checker's own.
    private static let size = 256 << 10

    private let state: Mutex<State>
    private let path: FilePath

    /// Opens a file.
    init(of path: FilePath) throws(DumpError) {
        self.path = path
        state = Mutex(State(reader: try BSONFileReader(path, bufferSize: Self.size)))
    }

    /// Why the end came early; known once all threads have ended.
    var failure: DumpError? { state.withLock { $0.failure } }

    /// Gives the next documents, one behind the other in a range of `block`; `nil` when there are none, or none is wanted.
    func next(in block: inout [UInt8]) -> (range: Range<Int>, place: Place)? {
        // The room of a very large document is given back.
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

    /// Ends the reading, as a document is damaged.
    func end(by damage: BSONError, in document: Place) {
        let error = DumpError(damage, path: path, documentOffset: document.offset, documents: document.documents)
        state.withLock { $0.end(by: error) }
    }

    /// Ends the reading, as nobody looks any more.
    func close() { state.withLock { $0.isOver = true } }
}
