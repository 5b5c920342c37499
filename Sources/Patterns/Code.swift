internal import CPCRE2
internal import Glibc

/// A regular expression that PCRE2 has compiled, with its memory.
///
/// The compiled expression never changes, so any thread can use it.
@safe final class Code: @unchecked Sendable {
    private let pointer: OpaquePointer

    /// Compiles a regular expression.
    /// - Throws: ``CompileFailure`` if PCRE2 refuses the expression.
    init(_ text: [UInt8], mode: Pattern.Mode) throws(CompileFailure) {
        var error: Int32 = 0
        var offset = 0
        // PCRE 8 allows `\K` in a lookaround, but PCRE2 allows it only with the following option.
        let context = unsafe pcre2_compile_context_create_8(nil)
        defer { unsafe pcre2_compile_context_free_8(context) }
        unsafe pcre2_set_compile_extra_options_8(context, UInt32(PCRE2_EXTRA_ALLOW_LOOKAROUND_BSK))
        let options = mode == .characters ? UInt32(PCRE2_UTF) : 0
        let compiled = unsafe text.withUnsafeBufferPointer { buffer in
            unsafe pcre2_compile_8(buffer.baseAddress, buffer.count, options, &error, &offset, context)
        }
        guard let compiled = unsafe compiled else { throw CompileFailure(code: error, offset: offset) }
        unsafe pointer = unsafe compiled
        // If the JIT compiler is missing or fails, the interpreter gives the same answers. The error is therefore
        // ignored.
        _ = unsafe pcre2_jit_compile_8(compiled, UInt32(PCRE2_JIT_COMPLETE))
    }

    deinit { unsafe pcre2_code_free_8(pointer) }

    /// Returns the result of `pcre2_match`; a result that is not negative means a match.
    func match(_ subject: UnsafePointer<UInt8>?, length: Int) -> Int32 {
        let scratch = unsafe MatchScratch.ofThisThread()
        let result = unsafe pcre2_match_8(pointer, subject, length, 0, 0, scratch, MatchScratch.limits)
        // If the stack of the JIT compiler is too small for this match, the interpreter repeats it with a stack on the
        // heap. The scratch memory keeps that large stack, so the memory is freed after the match.
        guard result == PCRE2_ERROR_JIT_STACKLIMIT else { return result }
        defer { MatchScratch.free() }
        return unsafe pcre2_match_8(pointer, subject, length, 0, UInt32(PCRE2_NO_JIT), scratch, MatchScratch.limits)
    }

    /// Whether a negative result of `pcre2_match` means that the text does not match; `false` if PCRE2 gave up.
    ///
    /// A text that is not UTF-8 does not match, as in mongod.
    static func isDecided(_ result: Int32) -> Bool {
        result == PCRE2_ERROR_NOMATCH || (PCRE2_ERROR_UTF8_ERR21...PCRE2_ERROR_UTF8_ERR1).contains(result)
    }
}

/// The error with which PCRE2 refuses an expression: its number, and the number of bytes that PCRE2 had read.
struct CompileFailure: Error {
    var code: Int32
    var offset: Int

    /// PCRE2's message for the error.
    var reason: String {
        var buffer = [UInt8](repeating: 0, count: 256)
        let length = unsafe buffer.withUnsafeMutableBufferPointer { buffer in
            unsafe pcre2_get_error_message_8(code, buffer.baseAddress, buffer.count)
        }
        return length > 0 ? String(decoding: buffer[..<Int(length)], as: UTF8.self) : "error \(code)"
    }
}

/// The memory that a thread needs for matching, allocated at its first match and freed when the thread ends.
enum MatchScratch {
    /// The limit on the steps of a match: PCRE's own default, even if the library was built with another one.
    private static let maximumSteps: UInt32 = 10_000_000
    /// The limit on the memory for the interpreter's stack, in KiB: 64 MiB.
    ///
    /// For an expression with a repeated group, the stack takes a hundred bytes or more for each byte of the text.
    private static let maximumHeap: UInt32 = 64 << 10

    // The match context is written once. After that, all threads only read it.
    nonisolated(unsafe) static let limits: OpaquePointer? = {
        let context = unsafe pcre2_match_context_create_8(nil)
        unsafe pcre2_set_match_limit_8(context, maximumSteps)
        unsafe pcre2_set_heap_limit_8(context, maximumHeap)
        return unsafe context
    }()

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let result = unsafe pthread_key_create(&key) { unsafe pcre2_match_data_free_8(OpaquePointer($0)) }
        precondition(result == 0, "a process has 1,024 keys")
        return key
    }()

    /// Frees the memory that the calling thread uses for matching; the thread's next match allocates it again.
    static func free() {
        unsafe pcre2_match_data_free_8(OpaquePointer(pthread_getspecific(key)))
        pthread_setspecific(key, nil)
    }

    /// Returns the memory that the calling thread uses for matching.
    ///
    /// The memory has room for only one pair of offsets, because no caller needs the position of a match.
    static func ofThisThread() -> OpaquePointer? {
        if let scratch = unsafe pthread_getspecific(key) { return OpaquePointer(scratch) }
        let scratch = unsafe pcre2_match_data_create_8(1, nil)
        unsafe pthread_setspecific(key, UnsafeRawPointer(scratch))
        return unsafe scratch
    }
}
