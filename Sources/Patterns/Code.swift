internal import CPCRE

/// What PCRE made of an expression; immutable, and so used by any thread.
@safe final class Code: @unchecked Sendable {
    private let pointer: OpaquePointer

    /// - Throws: ``PatternError/invalid(reason:offset:)``.
    init(_ text: String, mode: Pattern.Mode) throws(PatternError) {
        var reason: UnsafePointer<CChar>?
        var offset: Int32 = 0
        let options = mode == .characters ? PCRE_UTF8 : 0
        let compiled = unsafe text.withCString { unsafe pcre_compile($0, options, &reason, &offset, nil) }
        guard let compiled = unsafe compiled else {
            let words = unsafe reason.map { unsafe String(cString: $0) } ?? "it does not compile"
            throw .invalid(reason: words, offset: Int(offset))
        }
        unsafe pointer = compiled
    }

    deinit { unsafe cpcre_free(UnsafeMutableRawPointer(pointer)) }

    /// Whether the expression matches somewhere in the text.
    func matches(_ subject: UnsafePointer<CChar>, length: Int) -> Bool {
        // Neither studied nor compiled to machine code: a match must take the steps that it takes in mongod.
        var limits = unsafe pcre_extra()
        unsafe limits.flags = UInt(PCRE_EXTRA_MATCH_LIMIT | PCRE_EXTRA_MATCH_LIMIT_RECURSION)
        unsafe limits.match_limit = Self.maximumSteps
        unsafe limits.match_limit_recursion = Self.maximumDepth
        var groups = InlineArray<51, Int32>(repeating: 0)
        var span = groups.mutableSpan
        let result = unsafe span.withUnsafeMutableBufferPointer { groups in
            unsafe pcre_exec(
                pointer, &limits, subject, Int32(length), 0, 0, groups.baseAddress, Int32(groups.count))
        }
        return result >= 0
    }

    // The limits that mongod 6.0 sets, seen on 6.0.5.
    private static let maximumSteps: UInt = 200_000
    private static let maximumDepth: UInt = 4_000
}
