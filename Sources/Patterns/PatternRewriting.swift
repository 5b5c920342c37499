/// Rewrites an expression that PCRE2 refuses, so that PCRE2 reads it as PCRE 8 does.
///
/// mongod 6.0.5, with PCRE 8, was observed to read two kinds of text differently from PCRE2. An escape without a
/// meaning (`\i`, and `[\k]` in a class) is the character itself, and a hyphen after a character type (`[\w-.]`) is a
/// hyphen. Servers from 6.1 on use PCRE2, and refuse such expressions.
enum PatternRewriting {
    /// The numbers of the PCRE2 errors that rewriting can fix.
    private static let unknownEscape: Int32 = 103
    private static let escapeInClass: Int32 = 107
    private static let invalidRange: Int32 = 150

    /// Compiles an expression, and rewrites each part that PCRE2 refuses, if the part can be rewritten.
    /// - Returns: `code` is the compiled expression. `refusal` is the reason why PCRE2 refuses the original expression;
    ///   `nil` if PCRE2 accepts it.
    /// - Throws: ``PatternError/invalid(reason:offset:)`` if PCRE2 refuses a part that cannot be rewritten.
    static func compile(
        _ text: String, mode: Pattern.Mode
    ) throws(PatternError) -> (code: Code, refusal: CompileFailure?) {
        var bytes = Array(text.utf8)
        var first: CompileFailure?
        while true {
            let failure: CompileFailure
            do throws(CompileFailure) {
                return (try Code(bytes, mode: mode), first)
            } catch {
                failure = error
            }
            first = first ?? failure
            guard rewrite(&bytes, after: failure) else {
                let named = first ?? failure
                throw .invalid(reason: named.reason, offset: named.offset)
            }
        }
    }

    /// Rewrites the part at which PCRE2 refuses the expression; returns `false` if that part cannot be rewritten.
    private static func rewrite(_ bytes: inout [UInt8], after failure: CompileFailure) -> Bool {
        switch failure.code {
        case unknownEscape, escapeInClass: return dropBackslash(of: &bytes, before: failure.offset)
        case invalidRange: return escapeHyphen(of: &bytes, at: failure.offset)
        default: return false
        }
    }

    private static func dropBackslash(of bytes: inout [UInt8], before offset: Int) -> Bool {
        let position = offset - 1
        guard bytes.indices.contains(position), bytes[position] == UInt8(ascii: "\\") else { return false }
        bytes.remove(at: position)
        return true
    }

    private static func escapeHyphen(of bytes: inout [UInt8], at offset: Int) -> Bool {
        guard bytes.indices.contains(offset), bytes[offset] == UInt8(ascii: "-"), endsInCharacterType(bytes[..<offset])
        else { return false }
        bytes.insert(UInt8(ascii: "\\"), at: offset)
        return true
    }

    /// Whether the text ends with a character type, such as `\d`, `\p{L}` or `[:alpha:]`.
    private static func endsInCharacterType(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let last = bytes.last else { return false }
        if bytes.suffix(2).elementsEqual(":]".utf8) { return true }
        var start = bytes.endIndex - 2
        if last == UInt8(ascii: "}") {
            guard let brace = bytes.lastIndex(of: UInt8(ascii: "{")) else { return false }
            start = brace - 2
        }
        if start > bytes.startIndex, [UInt8(ascii: "p"), UInt8(ascii: "P")].contains(bytes[start]) { start -= 1 }
        return start >= bytes.startIndex && bytes[start] == UInt8(ascii: "\\")
            && "dDwWsShHvVpPNRX".utf8.contains(bytes[start + 1])
    }
}
