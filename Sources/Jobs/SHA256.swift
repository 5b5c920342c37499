import CCrypto

/// The SHA-256 of bytes: what was there, without keeping it.
///
/// The corresponding C function is `EVP_Digest` of libcrypto.
package enum SHA256 {
    /// The 32 bytes.
    package static func digest(of bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        let isDone = unsafe ccrypto_sha256(bytes, bytes.count, &digest)
        precondition(isDone, "the digest fails only for want of memory")
        return digest
    }

    /// The 64 hexadecimal digits.
    package static func text(of bytes: [UInt8]) -> String {
        digest(of: bytes).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
