import Glibc
import SystemPackage

/// What one thread of a scan saw: of every document its key and the number of what it added to the tally.
///
/// Twelve bytes for each document. They stay in memory up to a bound, and then go to a file without a name in the
/// folder for temporary files, from which they are read once at the end.
final class SeenLog {
    private var keys: [UInt64] = []
    private var contributions: [UInt32] = []
    private let bound: Int
    private let folder: String?
    private var file: FileDescriptor?
    private var spilled: [Int] = []
    /// Why not everything could be kept; `nil` when everything was.
    private(set) var failure: Errno?

    /// - Parameter bound: the documents that are kept in memory.
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

    /// Lends what was kept, in any order.
    func forEach(_ body: (DocumentKey, UInt32) -> Void) throws(Errno) {
        for index in keys.indices { body(DocumentKey(hash: keys[index]), contributions[index]) }
        guard let file else { return }
        var offset = 0
        for count in spilled {
            // All the keys stand in front of all the numbers.
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

    /// How many documents are read back at once.
    private static let piece = 1 << 14
}
