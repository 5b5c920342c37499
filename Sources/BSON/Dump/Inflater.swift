internal import CZlib

/// Decompresses gzip with zlib; the input may have several members in a row, as from `gzip -c a b`.
///
/// Whenever ``needsInput`` is true, the caller fills ``space`` and calls ``supply(_:)`` with the number of bytes.
@safe struct Inflater: ~Copyable {
    /// The reason why bytes are not valid gzip.
    enum Damage: Error {
        /// The bytes are not gzip, or their compressed data is invalid.
        case invalid
        /// The checksum or the length at the end of a member differs from that of its content.
        case checksum
    }

    private static var inputSize: Int { 128 << 10 }

    // zlib stores the address of the stream in its own state, so the stream must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    private let input: UnsafeMutableRawBufferPointer
    private var isBetweenMembers = false
    private var sawPadding = false

    init() {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        unsafe input = .allocate(byteCount: Self.inputSize, alignment: 16)
        let code = unsafe czlib_inflate_gzip(stream)
        precondition(code == Z_OK, "zlib has no memory")
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
        unsafe input.deallocate()
    }

    /// Whether all input was used, so that the caller has to supply more.
    var needsInput: Bool { unsafe stream.pointee.avail_in == 0 }

    /// Whether the input may end here, because the last member is complete.
    var mayEnd: Bool { isBetweenMembers }

    /// The memory in which the caller puts the next input.
    var space: UnsafeMutableRawBufferPointer { unsafe input }

    /// Takes `count` bytes of ``space`` as the next input.
    mutating func supply(_ count: Int) {
        unsafe stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe stream.pointee.avail_in = UInt32(count)
    }

    /// Writes as many bytes as possible to `output` and returns their number; 0 if more input is needed.
    mutating func inflate(into output: UnsafeMutableRawBufferPointer) throws(Damage) -> Int {
        if isBetweenMembers, try !beginMember() { return 0 }
        let room = min(output.count, Int(UInt32.max))
        unsafe stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe stream.pointee.avail_out = UInt32(room)
        let code = unsafe CZlib.inflate(stream, Z_NO_FLUSH)
        let count = unsafe room - Int(stream.pointee.avail_out)
        switch code {
        case Z_OK, Z_BUF_ERROR: break
        case Z_STREAM_END: isBetweenMembers = true
        // If this call has decompressed bytes before the damage, it returns them; the next call throws the error.
        case _ where count > 0: break
        default: throw isChecksum ? .checksum : .invalid
        }
        return count
    }

    /// Begins the next member; returns `false` if the input ends before it.
    ///
    /// Zeros after a member are skipped, because tapes and block devices add them. After such zeros, only more zeros
    /// may follow.
    private mutating func beginMember() throws(Damage) -> Bool {
        while unsafe stream.pointee.avail_in > 0 {
            guard unsafe stream.pointee.next_in.pointee == 0 else {
                if sawPadding { throw .invalid }
                isBetweenMembers = false
                unsafe inflateReset(stream)
                return true
            }
            sawPadding = true
            unsafe stream.pointee.next_in += 1
            unsafe stream.pointee.avail_in -= 1
        }
        return false
    }

    private var isChecksum: Bool {
        guard let message = unsafe stream.pointee.msg else { return false }
        return unsafe ["incorrect data check", "incorrect length check"].contains(String(cString: message))
    }
}
