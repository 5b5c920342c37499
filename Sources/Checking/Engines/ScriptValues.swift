import BSON

/// The view of a document's values by js-bson 6.10.4, with which PowerSync reads each `_id` and writes it as a key.
///
/// Source: js-bson: src/parser/deserializer.ts, src/parser/serializer.ts, and src/binary.ts, `validateBinaryVector`.
extension BSONView {
    /// Whether js-bson reads a value and, if it is a key or a value inside one, writes it again.
    func isReadableByScript(_ element: BSONElement, as use: ScriptUse) throws(BSONError) -> Bool {
        let inner = use == .key ? ScriptUse.insideKey : use
        switch TypeMask(element.type) {
        case .object, .array:
            return try document(element).isReadableByScript(isArray: element.type == .array, as: inner)
        case .javascriptWithScope:
            guard try isUTF8(element) else { return false }
            // js-bson does not look for its types in a scope itself, only in the objects inside it.
            return try scope(element).isReadableByScript(isArray: true, as: inner)
        case .string, .symbol, .javascript, .dbPointer: return try isUTF8(element)
        case .regex:
            guard case .regex(let pattern, let options) = try value(element) else { return true }
            return ScriptPattern.isValid(pattern, options: options)
        case .bool: return byte(element.valueOffset) <= 1
        case .binData: return isReadableBinary(element, as: use)
        default: return true
        }
    }

    /// Whether js-bson reads the values of a document and, inside a key, writes them again.
    func isReadableByScript(isArray: Bool = false, as use: ScriptUse) throws(BSONError) -> Bool {
        var position = firstPosition
        while let element = try next(&position) {
            // js-bson takes an object with this field for one of its own types, of another version.
            let isType = use != .value && !isArray && nameBytes(element).isEqual(to: "_bsontype")
            if isType, element.type != .null, element.type != .undefined { return false }
            guard try isReadableByScript(element, as: use) else { return false }
        }
        return true
    }

    private func isReadableBinary(_ element: BSONElement, as use: ScriptUse) -> Bool {
        let count = binaryLength(element)
        switch binarySubtype(element) {
        case 2: return hasRightLength(element, exactly: true)
        case 4: return use != .key || count == 16
        case 9 where use != .value:
            let (type, padding) = (count > 0 ? byte(element.valueOffset + 5) : nil, padding(of: element))
            return switch type {
            case 0x03: padding == 0
            case 0x27: padding == 0 && (count - 2).isMultiple(of: 4)
            case 0x10: (padding ?? 0) <= 7 && (count != 2 || padding == 0)
            default: true
            }
        default: return true
        }
    }

    private func padding(of vector: BSONElement) -> UInt8? {
        binaryLength(vector) > 1 ? byte(vector.valueOffset + 6) : nil
    }

    /// Whether the length inside binary data of subtype 2 fits its bytes; true for other subtypes.
    /// - Parameter exactly: Whether bytes after that length are an error, as they are in an `_id`.
    func hasRightLength(_ element: BSONElement, exactly: Bool) -> Bool {
        guard binarySubtype(element) == 2 else { return true }
        let count = binaryLength(element) - 4
        guard count >= 0 else { return false }
        let inner = unsafe Int(
            Int32(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: element.valueOffset + 5, as: Int32.self)))
        return exactly ? inner == count : (0...count).contains(inner)
    }

    /// Whether JavaScript takes the value of an element for false.
    func isFalseInScript(_ element: BSONElement) -> Bool {
        switch TypeMask(element.type) {
        case .int: int32(element) == 0
        case .long: int64(element) == 0
        case .double: double(element).isZero || double(element).isNaN
        case .bool: !bool(element)
        case .string, .symbol: element.valueLength == 5
        default: false
        }
    }

    /// Whether the text of a value is UTF-8; true for a type without text.
    func isUTF8(_ element: BSONElement) throws(BSONError) -> Bool {
        switch TypeMask(element.type) {
        case .string, .symbol, .javascript: return stringBytes(element).isUTF8
        case .regex: return valueBytes(element).isUTF8
        case .dbPointer:
            let end = element.valueOffset + element.valueLength - 13
            return bytes.extracting(element.valueOffset + 4..<end).isUTF8
        case .javascriptWithScope:
            return try bytes.extracting(element.valueOffset + 8..<scope(element).start - 1).isUTF8
        default: return true
        }
    }
}

/// The use of a value that js-bson reads.
enum ScriptUse {
    /// The value is only read.
    case value
    /// The value is an `_id`, which is also written as a key.
    case key
    /// The value is inside an `_id`.
    case insideKey
}

/// The syntax of JavaScript's regular expressions without the flag `u`, with which js-bson compiles those in an `_id`.
///
/// Source: ECMA-262, annex B.1.2, and the modifiers of ES2025, as in Node.js 24.
struct ScriptPattern {
    private let units: [UInt16]
    private let hasNames: Bool
    private var at = 0
    private var groups: [Group] = []
    private var names: Set<[UInt16]> = []
    private var references: Set<[UInt16]> = []

    /// An open group: whether it can be repeated, the names in its current alternative, and those in its earlier ones.
    private struct Group {
        var isRepeatable = true
        var names: Set<[UInt16]> = []
        var earlier: Set<[UInt16]> = []
    }

    /// Whether JavaScript compiles the pattern with the flags that js-bson makes of the options.
    static func isValid(_ pattern: String, options: String) -> Bool {
        let flags = options.utf8.filter { "ims".utf8.contains($0) }
        guard Set(flags).count == flags.count else { return false }
        let units = Array(pattern.utf16)
        var named = Self(units, hasNames: false)
        guard named.parse() else {
            // A name makes `\k` a reference in the whole pattern, but no wrong pattern right.
            return false
        }
        guard !named.names.isEmpty else { return true }
        var second = Self(units, hasNames: true)
        return second.parse() && second.references.isSubset(of: second.names)
    }

    private init(_ units: [UInt16], hasNames: Bool) { (self.units, self.hasNames) = (units, hasNames) }

    private var next: Unicode.Scalar? { at < units.count ? Unicode.Scalar(units[at]) ?? "\u{FFFD}" : nil }

    private mutating func take(_ text: String) -> Bool {
        let wanted = Array(text.utf16)
        guard units[at...].starts(with: wanted) else { return false }
        at += wanted.count
        return true
    }

    private mutating func parse() -> Bool {
        groups = [Group()]
        while let unit = next {
            at += 1
            switch unit {
            case "|":
                groups[groups.count - 1].earlier.formUnion(groups[groups.count - 1].names)
                groups[groups.count - 1].names = []
                continue
            case "(":
                guard open() else { return false }
                continue
            case ")":
                guard let group = groups.popLast(), !groups.isEmpty else { return false }
                groups[groups.count - 1].names.formUnion(group.names.union(group.earlier))
                if !group.isRepeatable { continue }
            case "^", "$": continue
            case "*", "+", "?": return false
            case "{":
                at -= 1
                guard count() == nil else { return false }
                at += 1
            case "[": guard set() else { return false }
            case "\\":
                guard let escaped = next else { return false }
                at += 1
                if escaped == "b" || escaped == "B" { continue }
                if escaped == "k", hasNames {
                    guard take("<"), let name = name() else { return false }
                    references.insert(name)
                }
            default: break
            }
            guard repetition() else { return false }
        }
        return groups.count == 1
    }

    private mutating func open() -> Bool {
        var group = Group()
        if take("?") {
            if take("<=") || take("<!") {
                group.isRepeatable = false
            } else if take("<") {
                guard let name = name(), !groups.contains(where: { $0.names.contains(name) }) else { return false }
                names.insert(name)
                groups[groups.count - 1].names.insert(name)
            } else if !take(":"), !take("="), !take("!"), !modifiers() {
                return false
            }
        }
        groups.append(group)
        return true
    }

    /// Reads modifiers such as `i-m:`, each of them once, and at least one.
    private mutating func modifiers() -> Bool {
        var (seen, hasMinus): (Set<Unicode.Scalar>, Bool) = ([], false)
        while let unit = next {
            at += 1
            if unit == ":" { return !seen.isEmpty }
            if unit == "-", !hasMinus {
                hasMinus = true
            } else {
                guard ["i", "m", "s"].contains(unit), seen.insert(unit).inserted else { return false }
            }
        }
        return false
    }

    private mutating func name() -> [UInt16]? {
        guard let end = units[at...].firstIndex(of: 0x3E) else { return nil }
        let name = Array(units[at..<end])
        let text = String(decoding: name, as: UTF16.self).unicodeScalars
        let isName = text.enumerated().allSatisfy { index, scalar in
            scalar == "$" || scalar == "_"
                || (index == 0 ? scalar.properties.isIDStart : scalar.properties.isIDContinue)
        }
        at = end + 1
        return isName && !name.isEmpty ? name : nil
    }

    /// Reads a repetition, if there is one.
    /// - Returns: Whether it is none, or a right one.
    private mutating func repetition() -> Bool {
        if take("*") || take("+") || take("?") {
            _ = take("?")
        } else if let isOrdered = count() {
            guard isOrdered else { return false }
            _ = take("?")
        }
        return true
    }

    /// Reads `{n}`, `{n,}` or `{n,m}`.
    /// - Returns: Whether the numbers are in order; `nil` for other text, which is then not read.
    private mutating func count() -> Bool? {
        let start = at
        func number() -> [UInt16]? {
            let first = at
            while let unit = next, ("0"..."9").contains(unit) { at += 1 }
            return at > first ? Array(units[first..<at].drop { $0 == 0x30 }) : nil
        }
        guard take("{"), let low = number() else { return rewind(to: start) }
        guard take(",") else { return take("}") ? true : rewind(to: start) }
        let high = number()
        guard take("}") else { return rewind(to: start) }
        guard let high else { return true }
        return low.count == high.count ? !high.lexicographicallyPrecedes(low) : low.count < high.count
    }

    private mutating func rewind(to start: Int) -> Bool? {
        at = start
        return nil
    }

    /// Reads a set of characters after its bracket; a range from a class such as `\d`, or to one, is no range.
    private mutating func set() -> Bool {
        _ = take("^")
        while let unit = next {
            if unit == "]" {
                at += 1
                return true
            }
            guard let low = member() else { return false }
            guard next == "-", at + 1 < units.count, units[at + 1] != 0x5D else { continue }
            at += 1
            guard let high = member() else { return false }
            if let low = low.unit, let high = high.unit, low > high { return false }
        }
        return false
    }

    private mutating func member() -> (unit: UInt16?, isRead: Bool)? {
        let unit = units[at]
        at += 1
        guard unit == 0x5C else { return (unit, true) }
        guard let escaped = next else { return nil }
        at += 1
        func digits(_ most: Int, radix: Int) -> UInt16? {
            let text = String(decoding: units[at...].prefix(most), as: UTF16.self)
            guard text.utf16.count == most, text.allSatisfy(\.isHexDigit), let value = UInt16(text, radix: radix) else {
                return nil
            }
            at += most
            return value
        }
        switch escaped {
        case "d", "D", "w", "W", "s", "S": return (nil, true)
        case "k" where hasNames: return nil
        case "b": return (8, true)
        case "t": return (9, true)
        case "n": return (10, true)
        case "v": return (11, true)
        case "f": return (12, true)
        case "r": return (13, true)
        case "x": return (digits(2, radix: 16) ?? 0x78, true)
        case "u": return (digits(4, radix: 16) ?? 0x75, true)
        case "0"..."7":
            var value = UInt16(escaped.value - 0x30)
            while let digit = next, ("0"..."7").contains(digit), value * 8 + UInt16(digit.value - 0x30) <= 255 {
                value = value * 8 + UInt16(digit.value - 0x30)
                at += 1
            }
            return (value, true)
        case "c":
            if let letter = next, letter.isASCII,
                letter.properties.isAlphabetic || ("0"..."9").contains(letter)
                    || letter == "_"
            {
                at += 1
                return (UInt16(letter.value % 32), true)
            }
            at -= 1
            return (0x5C, true)
        default: return (units[at - 1], true)
        }
    }
}
