public import BSON

/// A writer of archives in the format of `mongodump --archive` (mongo-tools, `common/archive/spec.md`).
public struct ArchiveWriter {
    /// The bytes of the archive so far.
    public private(set) var bytes: [UInt8]

    private var written: [Namespace: [UInt8]] = [:]

    private static let terminator = [UInt8](repeating: 0xFF, count: 4)

    /// Starts an archive with its prelude.
    /// - Parameter types: the types of collections that are not plain collections, such as `timeseries`.
    public init(_ collections: [Namespace], types: [Namespace: String] = [:]) {
        bytes = [0x6D, 0xE2, 0x99, 0x81]
        let header: BSONDocument = [
            "concurrent_collections": 4, "version": "0.1", "server_version": "6.0.5", "tool_version": "100.9.4",
        ]
        bytes += header.bytes
        for namespace in collections {
            let metadata = #"{"indexes":[],"collectionName":"\#(namespace.collection)","type":"collection"}"#
            let document: BSONDocument = [
                "db": .string(namespace.database), "collection": .string(namespace.collection),
                "metadata": .string(metadata), "size": 0, "type": .string(types[namespace] ?? "collection"),
            ]
            bytes += document.bytes
        }
        bytes += Self.terminator
    }

    /// Writes a block of documents.
    public mutating func write(_ documents: some Sequence<BSONDocument>, of namespace: Namespace) {
        let body = documents.flatMap(\.bytes)
        bytes += header(namespace, isEnd: false, checksum: 0) + body + Self.terminator
        written[namespace, default: []] += body
    }

    /// Writes the end of a collection.
    public mutating func close(_ namespace: Namespace) {
        let checksum = Self.checksum(written[namespace] ?? [])
        bytes += header(namespace, isEnd: true, checksum: Int64(bitPattern: checksum)) + Self.terminator
    }

    private func header(_ namespace: Namespace, isEnd: Bool, checksum: Int64) -> [UInt8] {
        let header: BSONDocument = [
            "db": .string(namespace.database), "collection": .string(namespace.collection), "EOF": .bool(isEnd),
            "CRC": .long(checksum),
        ]
        return header.bytes
    }

    /// Computes the CRC-64 of the bytes with ECMA-182's polynomial, bit by bit, as in its definition.
    public static func checksum(_ bytes: [UInt8]) -> UInt64 {
        ~bytes.reduce(UInt64.max) { crc, byte in
            (0..<8).reduce(crc ^ UInt64(byte)) { crc, _ in crc & 1 == 1 ? crc >> 1 ^ 0xC96C_5795_D787_0F42 : crc >> 1 }
        }
    }
}

extension ArchiveWriter {
    /// Returns an archive of whole collections, whose blocks are interleaved.
    public static func interleaved(
        _ collections: [(Namespace, [BSONDocument])], block size: Int = 100, types: [Namespace: String] = [:]
    ) -> [UInt8] {
        var writer = ArchiveWriter(collections.map(\.0), types: types)
        let longest = collections.map(\.1.count).max() ?? 0
        for start in stride(from: 0, to: longest, by: size) {
            for (namespace, documents) in collections where start < documents.count {
                writer.write(documents[start..<min(start + size, documents.count)], of: namespace)
            }
        }
        for (namespace, _) in collections { writer.close(namespace) }
        return writer.bytes
    }
}
