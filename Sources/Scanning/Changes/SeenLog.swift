import Glibc
import SystemPackage

/// A log of the documents that one thread of a scan read.
///
/// An entry of the log takes twelve bytes: the document's key, and the number by which the tally identifies the
/// document's contribution to the counts. Entries stay in memory up to a limit. At the limit, the log writes them to an
/// unnamed file in the folder for temporary files. The file is read once, at the end.
final class SeenLog {
    private var keys: [UInt64] = []
    private var contributions: [UInt32] = []
    private let bound: Int
    private let folder: String?
    private var file: FileDescriptor?
    private var spilled: [Int] = []
    /// The error of a write to the temporary file, because of which some documents are missing from the log.
    ///
    /// `nil` if no document is missing.
    private(set) var failure: Errno?

    /// Creates an empty log.
    /// - Parameters:
    ///   - bound: The limit on the number of entries in memory.
    ///   - folder: The folder of the temporary file; `nil` for the default folder.
    init(bound: Int, folder: String?) {
        self.bound = max(bound, 1)
        self.folder = folder
    }

    deinit { try? file?.close() }

    func append(_ key: DocumentKey, _ contribution: UInt32) {
        keys.append(key.hash)
        contributions.append(contribution)
        if keys.count >= bound { spill() }
    }

    private func spill() {
        if failure == nil {
            do throws(Errno) { try write() } catch { failure = error }
        }
        keys.removeAll(keepingCapacity: true)
        contributions.removeAll(keepingCapacity: true)
    }

    private func write() throws(Errno) {
        if file == nil { file = try UnnamedFile.open(in: folder) }
        guard let file else { return }
        try UnnamedFile.write(keys, to: file)
        try UnnamedFile.write(contributions, to: file)
        spilled.append(keys.count)
    }

    /// Calls `body` with the key and the contribution number of every document in the log, in no particular order.
    func forEach(_ body: (DocumentKey, UInt32) -> Void) throws(Errno) {
        for index in keys.indices { body(DocumentKey(hash: keys[index]), contributions[index]) }
        guard let file else { return }
        var offset = 0
        for count in spilled {
            // Each write to the file consists of all its keys, followed by all its contribution numbers.
            var (keyOffset, numberOffset) = (offset, offset + count * MemoryLayout<UInt64>.stride)
            var rest = count
            while rest > 0 {
                let some = min(rest, Self.piece)
                let keys = try UnnamedFile.read(UInt64.self, some, from: file, at: &keyOffset)
                let contributions = try UnnamedFile.read(UInt32.self, some, from: file, at: &numberOffset)
                for index in 0..<some { body(DocumentKey(hash: keys[index]), contributions[index]) }
                rest -= some
            }
            offset = numberOffset
        }
    }

    /// The largest number of entries that are read from the file at once.
    private static let piece = 1 << 14
}
