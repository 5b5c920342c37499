import BSON
import Checking
import Concurrency
import Mongo
import SystemPackage

/// Checks the documents of a file on several threads.
///
/// Each thread takes one block of the file after another. It validates and checks the documents of the block in one
/// pass, so that the block stays in the cache of one core.
struct FileThreads: Sendable {
    let part: SourceScan.Part
    let path: FilePath

    /// The number of threads; one if a listener receives the failing documents, which must be in the order of the file.
    private var count: Int { part.options.listeners.onFailure == nil ? part.options.threads : 1 }

    /// Adds all documents of the file to `tally`, whose samples are then the same as with a single thread.
    /// - Parameter keys: The log of this thread for the keys of the documents in unique indexes.
    /// - Returns: The logs of the other threads.
    /// - Throws: ``DumpError``, or ``ScanStopped``.
    func add(to tally: inout Tally, _ keys: UniqueLog?) throws -> [UniqueLog] {
        let blocks = try FileBlocks(of: path)
        let others = (1..<count).map { number in
            BackgroundTask(name: "check-\(number)") { [self] in
                var tally = part.options.makeTally(part.schema)
                let keys = UniqueLog(part.schema, options: part.options)
                try add(blocks, to: &tally, keys)
                return (tally: tally, keys: keys)
            }
        }
        let result = Result { try add(blocks, to: &tally, keys) }
        let ended = others.map { $0.end() }
        if let failure = blocks.failure { throw failure }
        try result.get()
        let parts = try ended.map { try $0.get() }
        for other in parts { tally.merge(other.tally) }
        return parts.compactMap(\.keys)
    }

    private func add(_ blocks: FileBlocks, to tally: inout Tally, _ keys: UniqueLog?) throws {
        var pacer = ScanPacer(part.options)
        defer { pacer.finish() }
        let ledger = part.options.judging.ledger
        var block: [UInt8] = []
        while var (range, place) = blocks.next(in: &block) {
            tally.resume(after: place.documents)
            let bytes = unsafe block.span.bytes
            while !range.isEmpty {
                let start = range.lowerBound
                let length = unsafe Int(
                    Int32(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: start, as: Int32.self)))
                do throws(BSONError) {
                    let document = try BSONView(bytes.extracting(start..<start + length))
                    try tally.add(document, ledger: ledger, validating: true)
                    try keys?.add(document, tally.lastCounted)
                } catch { return blocks.end(by: error, in: place) }
                place = .init(documents: place.documents + 1, offset: place.offset + Int64(length))
                range = start + length..<range.upperBound
                guard pacer.mayContinue() else {
                    blocks.close()
                    throw ScanStopped()
                }
            }
        }
    }
}
