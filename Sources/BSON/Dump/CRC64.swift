/// The checksum that mongodump writes for the documents of a collection.
///
/// The checksum is CRC-64 with the polynomial of ECMA-182, reflected, as in Go's `crc64.ECMA` and in xz.
struct CRC64 {
    /// Eight tables of 256 entries each.
    ///
    /// Table `n` contains the effect of a byte on the checksum if `n` more bytes follow it in a word of eight bytes.
    static let tables: [UInt64] = {
        var tables = [UInt64](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            tables[byte] = (0..<8).reduce(UInt64(byte)) { crc, _ in
                crc & 1 == 1 ? crc >> 1 ^ 0xC96C_5795_D787_0F42 : crc >> 1
            }
        }
        for entry in 256..<tables.count {
            let before = tables[entry - 256]
            tables[entry] = tables[Int(before & 0xFF)] ^ before >> 8
        }
        return tables
    }()

    private var state = UInt64.max

    /// The checksum of the bytes so far.
    var value: UInt64 { ~state }

    /// Adds bytes to the checksum.
    mutating func update(_ bytes: RawSpan, tables: Span<UInt64>) {
        precondition(tables.count == 8 * 256)
        var state = state
        var offset = 0
        while offset &+ 8 <= bytes.byteCount {
            let word = unsafe UInt64(
                littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
            var rest = word ^ state
            state = 0
            // The first byte of the word is the farthest from the word's end, so the last table comes first.
            for table in stride(from: 7 * 256, through: 0, by: -256) {
                state ^= unsafe tables[unchecked: table &+ Int(rest & 0xFF)]
                rest &>>= 8
            }
            offset &+= 8
        }
        while offset < bytes.byteCount {
            let byte = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt8.self)
            state = unsafe tables[unchecked: Int(UInt8(truncatingIfNeeded: state) ^ byte)] ^ state >> 8
            offset &+= 1
        }
        self.state = state
    }
}
