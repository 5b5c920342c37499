internal import CZlib

/// Owns a `z_stream` that undoes gzip: members one after the other, as `gzip -c a b` and parallel writers leave them.
///
/// The caller fills ``space`` and says how much by ``supply(_:)`` whenever ``needsInput`` is true.
@safe struct Inflater: ~Copyable {
    /// How bytes fail to be gzip.
    enum Damage: Error {
        /// No gzip, or no deflated bytes.
        case invalid
        /// The checksum or the length at the end of a member is not that of what it gave.
        case checksum
    }

    private static var inputSize: Int { 128 << 10 }

    // zlib's own state points back at the stream, so it must not move.
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

    /// Whether all input is used up.
    var needsInput: Bool { unsafe stream.pointee.avail_in == 0 }

    /// Whether the input may end here.
    var mayEnd: Bool { isBetweenMembers }

    /// Where the next input goes.
    var space: UnsafeMutableRawBufferPointer { unsafe input }

    /// Says how many bytes ``space`` was given.
    mutating func supply(_ count: Int) {
        unsafe stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe stream.pointee.avail_in = UInt32(count)
    }

    /// Gives as many bytes as there are; 0 when it needs more input.
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
        // What was good before the damage goes first; the next call says the same again.
        case _ where count > 0: break
        default: throw isChecksum ? .checksum : .invalid
        }
        return count
    }

    /// Passes over the zeros that tapes and block devices leave behind a member; nothing else may follow them.
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
