import CCrypto

/// The SHA-256 hash of bytes, which identifies the bytes without storing them.
///
/// The corresponding C functions are `EVP_Digest` and, for many short values, `SHA256_Final` of libcrypto.
package enum SHA256 {
    /// Returns the 32 bytes of the hash.
    package static func digest(of bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        let isDone = unsafe ccrypto_sha256(bytes, bytes.count, &digest)
        precondition(isDone, "the digest fails only for lack of memory")
        return digest
    }

    /// Returns the first 16 bytes of the hash of a byte and a value, as two words, the bytes in descending order.
    package static func words(of byte: UInt8, _ value: RawSpan) -> (UInt64, UInt64) {
        var (high, low): (UInt64, UInt64) = (0, 0)
        unsafe value.withUnsafeBytes {
            unsafe ccrypto_sha256_words(byte, $0.baseAddress, $0.count, &high, &low)
        }
        return (high, low)
    }

    /// Returns the hash as 64 hexadecimal digits.
    package static func text(of bytes: [UInt8]) -> String {
        digest(of: bytes).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
