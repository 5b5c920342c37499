import BSON

/// A copy of the given bytes in a memory block of exactly their size, so that AddressSanitizer detects a read beyond
/// the last byte.
@safe final class ExactBuffer {
    private let memory: UnsafeMutableRawBufferPointer

    init(_ bytes: some Collection<UInt8>) {
        unsafe memory = .allocate(byteCount: bytes.count, alignment: 1)
        unsafe memory.copyBytes(from: bytes)
    }

    deinit { unsafe memory.deallocate() }

    /// The bytes in the memory block.
    var span: RawSpan {
        @_lifetime(borrow self)
        get {
            let span = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(memory))
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// Replaces the byte at `offset` by `byte`, runs `body`, and restores the old byte.
    func with(_ byte: UInt8, at offset: Int, _ body: () -> Void) {
        let before = unsafe memory[offset]
        unsafe memory[offset] = byte
        body()
        unsafe memory[offset] = before
    }
}
