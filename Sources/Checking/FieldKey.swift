import BSON

/// A field's name, stored so that names of at most 16 bytes are compared by machine words instead of byte by byte.
package struct FieldKey: Sendable, BitwiseCopyable {
    /// The first eight bytes of the name, little endian, padded with zeros.
    var head: UInt64
    /// The last eight bytes of the name; 0 if the name has at most eight bytes.
    var tail: UInt64
    /// The number of bytes of the name.
    package private(set) var length: Int32
    /// The offset of the name in the bytes from which the key was made.
    ///
    /// Only a comparison or hash of names of more than 16 bytes reads these bytes.
    package var start: Int32

    /// Creates the key of the name at `offset` in `bytes`.
    @inline(__always)
    package init(_ bytes: RawSpan, at offset: Int, length: Int) {
        self.length = Int32(truncatingIfNeeded: length)
        start = Int32(truncatingIfNeeded: offset)
        if length > 8 {
            head = unsafe UInt64(
                littleEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self))
            tail = unsafe UInt64(
                littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset &+ length &- 8, as: UInt64.self))
        } else {
            tail = 0
            head = Self.short(bytes, at: offset, length: length)
        }
    }

    @inline(__always)
    private static func short(_ bytes: RawSpan, at offset: Int, length: Int) -> UInt64 {
        if offset &+ 8 <= bytes.byteCount {
            let word = unsafe UInt64(
                littleEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self))
            return length == 8 ? word : word & ((1 &<< UInt64(length &* 8)) &- 1)
        }
        return last(bytes, at: offset, length: length)
    }

    /// Returns the word of a name that is near the end of the bytes.
    @inline(never)
    private static func last(_ bytes: RawSpan, at offset: Int, length: Int) -> UInt64 {
        var word: UInt64 = 0
        for index in 0..<length {
            let byte = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset &+ index, as: UInt8.self)
            word |= UInt64(byte) &<< UInt64(index &* 8)
        }
        return word
    }

    /// Whether this name, whose bytes are in `bytes`, equals the name `other`, whose bytes are in `names`.
    @inline(__always)
    package func matches(_ other: FieldKey, in bytes: RawSpan, names: RawSpan) -> Bool {
        guard head == other.head, length == other.length, tail == other.tail else { return false }
        return length <= 16 || middleMatches(other, in: bytes, names: names)
    }

    @inline(never)
    private func middleMatches(_ other: FieldKey, in bytes: RawSpan, names: RawSpan) -> Bool {
        var index = 8
        while index < Int(length) - 8 {
            let mine = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: Int(start) &+ index, as: UInt8.self)
            let its = unsafe names.unsafeLoadUnaligned(fromByteOffset: Int(other.start) &+ index, as: UInt8.self)
            guard mine == its else { return false }
            index &+= 1
        }
        return true
    }

    /// Returns a hash of the name for ``FieldTable``; `bytes` are the bytes from which the key was made.
    @inline(__always)
    package func hash(in bytes: RawSpan) -> Int {
        var mixed = (head ^ (tail &* 0x9E37_79B9_7F4A_7C15) ^ UInt64(UInt32(bitPattern: length)))
        if length > 16 { mixed ^= middleHash(in: bytes) }
        return Int(truncatingIfNeeded: (mixed &* 0xFF51_AFD7_ED55_8CCD) &>> 33)
    }

    /// Returns a hash of the name's bytes between the first eight and the last eight.
    ///
    /// Long names may have the same first and last eight bytes, so a hash of only these sixteen bytes would often be
    /// the same.
    @inline(never)
    private func middleHash(in bytes: RawSpan) -> UInt64 {
        var mixed: UInt64 = 0
        for index in 8..<Int(length) &- 8 {
            let byte = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: Int(start) &+ index, as: UInt8.self)
            mixed = (mixed ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
        }
        return mixed &* 0x9E37_79B9_7F4A_7C15
    }
}
