import SystemPackage

/// Finds the hashes that occur more than once among any number of hashes, in bounded memory.
///
/// The hashes are divided into 256 parts by their first byte. Each part has a buffer. A full buffer is written to an
/// unnamed file in the folder for temporary files. At the end, one part after another is read and sorted.
///
/// The buffers take 8 MiB. The list of written blocks takes one byte for each 4,096 hashes. A part that is sorted takes
/// 12 bytes for each of its hashes, including the sort's own buffer. A hundred million hashes take about 13 MiB in all.
struct RepeatedHashes: ~Copyable {
    /// The largest number of repeated hashes that are returned.
    static var most: Int { 1 << 17 }
    private static var partCount: Int { 256 }
    private static var blockSize: Int { 1 << 12 }

    private var buffers: [[UInt64]]
    /// The number of the part to which each block belongs, in the order of the blocks in the file.
    private var blocks: [UInt8] = []
    private var file: FileDescriptor?
    private let folder: String?

    /// Creates an empty set of hashes.
    /// - Parameter folder: The folder of the temporary file; `nil` for the default folder.
    init(folder: String?) {
        self.folder = folder
        buffers = Array(repeating: [], count: Self.partCount)
    }

    deinit { try? file?.close() }

    /// The number of bytes that the structure holds in memory between two calls.
    var heldBytes: Int {
        blocks.capacity + buffers.reduce(0) { $0 + $1.capacity * MemoryLayout<UInt64>.stride }
    }

    /// Adds a hash.
    /// - Throws: `Errno` if the temporary file cannot be written.
    mutating func insert(_ hash: UInt64) throws(Errno) {
        let part = Int(hash >> 56)
        if buffers[part].isEmpty { buffers[part].reserveCapacity(Self.blockSize) }
        buffers[part].append(hash)
        guard buffers[part].count == Self.blockSize else { return }
        if file == nil { file = try UnnamedFile.open(in: folder) }
        guard let file else { return }
        try UnnamedFile.write(buffers[part], to: file)
        blocks.append(UInt8(part))
        buffers[part].removeAll(keepingCapacity: true)
    }

    /// Returns the hashes that were added more than once, at most ``most`` of them.
    /// - Throws: `Errno` if the temporary file cannot be read.
    func repeated() throws(Errno) -> Set<UInt64> {
        var result: Set<UInt64> = []
        for part in 0..<Self.partCount {
            var hashes = try hashes(of: part)
            hashes.sort()
            for index in hashes.indices.dropFirst() where hashes[index] == hashes[index - 1] {
                guard result.count < Self.most else { return result }
                result.insert(hashes[index])
            }
        }
        return result
    }

    private func hashes(of part: Int) throws(Errno) -> [UInt64] {
        var hashes = buffers[part]
        guard let file else { return hashes }
        hashes.reserveCapacity(hashes.count + blocks.count { Int($0) == part } * Self.blockSize)
        for (index, owner) in blocks.enumerated() where Int(owner) == part {
            var offset = index * Self.blockSize * MemoryLayout<UInt64>.stride
            hashes += try UnnamedFile.read(UInt64.self, Self.blockSize, from: file, at: &offset)
        }
        return hashes
    }
}
