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
            let type = count > 0 ? byte(element.valueOffset + 5) : nil
            let padding = count > 1 ? byte(element.valueOffset + 6) : nil
            return switch type {
            case 0x03: padding == 0
            case 0x27: padding == 0 && (count - 2).isMultiple(of: 4)
            case 0x10: (padding ?? 0) <= 7 && (count != 2 || padding == 0)
            default: true
            }
        default: return true
        }
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

/// The use of a value that js-bson reads: the value is only read, or it is an `_id`, which is also written as a key, or
/// inside one.
enum ScriptUse { case value, key, insideKey }

/// The syntax of JavaScript's regular expressions without the flag `u`, with which js-bson compiles those in an `_id`.
///
/// Source: ECMA-262, annex B.1.2, and the modifiers of ES2025, as in Node.js 24.
struct ScriptPattern {
    private let units: [UInt16]
    private let hasNames: Bool
    private var at = 0
    private var groups = [Group()]
    private var names: Set<String> = []
    private var references: Set<String> = []

    /// An open group: whether it can be repeated, and the names in its current and in its earlier alternatives.
    private struct Group {
        var isRepeatable = true
        var names: Set<String> = []
        var earlier: Set<String> = []
    }

    /// Whether JavaScript compiles the pattern with the flags that js-bson makes of the options.
    static func isValid(_ pattern: String, options: String) -> Bool {
        let flags = options.filter { "ims".contains($0) }
        var first = Self(pattern, hasNames: false)
        guard Set(flags).count == flags.count, first.parse() else { return false }
        // A group with a name makes `\k` a reference in the whole pattern.
        var second = Self(pattern, hasNames: true)
        return first.names.isEmpty || second.parse() && second.references.isSubset(of: second.names)
    }

    private init(_ pattern: String, hasNames: Bool) { (units, self.hasNames) = (Array(pattern.utf16), hasNames) }

    private mutating func take(_ texts: String...) -> Bool {
        guard let text = texts.first(where: { units[at...].starts(with: $0.utf16) }) else { return false }
        at += text.utf16.count
        return true
    }

    private mutating func take(while isTaken: (UInt16) -> Bool) -> String {
        let taken = units[at...].prefix(while: isTaken)
        at += taken.count
        return String(decoding: taken, as: UTF16.self)
    }

    private mutating func parse() -> Bool {
        while at < units.count {
            if take("|") {
                groups[groups.count - 1].earlier.formUnion(groups[groups.count - 1].names)
                groups[groups.count - 1].names = []
                continue
            } else if take("^", "$", "\\b", "\\B") {
                continue
            } else if take("(") {
                guard open() else { return false }
                continue
            } else if take(")") {
                guard groups.count > 1, let group = groups.popLast() else { return false }
                groups[groups.count - 1].names.formUnion(group.names.union(group.earlier))
                if !group.isRepeatable { continue }
            } else if take("[") {
                guard set() else { return false }
            } else if hasNames, take("\\k") {
                guard take("<"), let name = name() else { return false }
                references.insert(name)
            } else if take("*", "+", "?") || count() != nil || units[at...].elementsEqual("\\".utf16) {
                return false
            } else {
                _ = take("\\")
                at += 1
            }
            let isOrdered = count()
            if isOrdered == false { return false }
            if isOrdered == true || take("*", "+", "?") { _ = take("?") }
        }
        return groups.count == 1
    }

    private mutating func open() -> Bool {
        var group = Group()
        if take("?<=", "?<!") {
            group.isRepeatable = false
        } else if take("?<") {
            guard let name = name(), !groups.contains(where: { $0.names.contains(name) }) else { return false }
            names.insert(name)
            groups[groups.count - 1].names.insert(name)
        } else if !take("?:", "?=", "?!"), take("?") {
            // Modifiers such as `i-m`: each of them once, at least one, and at most one minus.
            let text = take { (0x2D...0x73).contains($0) && "ims-".utf16.contains($0) }
            guard take(":"), text != "-", !text.isEmpty, Set(text).count == text.count else { return false }
        }
        groups.append(group)
        return true
    }

    private mutating func name() -> String? {
        let name = take { $0 != UInt8(ascii: ">") }
        let isName = name.unicodeScalars.enumerated().allSatisfy { index, scalar in
            scalar == "$" || scalar == "_"
                || (index == 0 ? scalar.properties.isIDStart : scalar.properties.isIDContinue)
        }
        return take(">") && isName && !name.isEmpty ? name : nil
    }

    /// Reads `{n}`, `{n,}` or `{n,m}`.
    /// - Returns: Whether the numbers are in order; `nil` for other text, which is then not read.
    private mutating func count() -> Bool? {
        let start = at
        if take("{"), let low = Double(take { (0x30...0x39).contains($0) }) {
            let high = take(",") ? Double(take { (0x30...0x39).contains($0) }) ?? .infinity : low
            if take("}") { return low <= high }
        }
        at = start
        return nil
    }

    /// Reads a set of characters after its bracket; a range from a class such as `\d`, or to one, is no range.
    private mutating func set() -> Bool {
        _ = take("^")
        while !take("]") {
            guard let low = member() else { return false }
            guard units[at...].first == 0x2D, units[at...].dropFirst().first ?? 0x5D != 0x5D else { continue }
            at += 1
            guard let high = member() else { return false }
            if low >= 0, high >= 0, low > high { return false }
        }
        return true
    }

    /// Reads a member of a set.
    /// - Returns: Its character; a negative number for a class; `nil` at the end of the pattern or for a wrong `\k`.
    private mutating func member() -> Int? {
        guard at < units.count else { return nil }
        at += 1
        guard units[at - 1] == 0x5C else { return Int(units[at - 1]) }
        guard at < units.count, !hasNames || units[at] != 0x6B else { return nil }
        at += 1
        func number(_ most: Int, _ radix: Int) -> Int? {
            let text = String(decoding: units[at...].prefix(most), as: UTF16.self)
            guard text.utf16.count == most, text.allSatisfy(\.isHexDigit) else { return nil }
            at += most
            return Int(text, radix: radix)
        }
        let escaped = Unicode.Scalar(units[at - 1]) ?? "?"
        switch escaped {
        case "d", "D", "w", "W", "s", "S": return -1
        case "x": return number(2, 16) ?? 0x78
        case "u": return number(4, 16) ?? 0x75
        case "0"..."7":
            var value = Int(units[at - 1]) - 0x30
            while let digit = units[at...].first, (0x30...0x37).contains(digit), value < 32 {
                value = value * 8 + Int(digit) - 0x30
                at += 1
            }
            return value
        case "c":
            if let letter = units[at...].first.flatMap(UInt8.init(exactly:)),
                letter | 0x20 >= 0x61 && letter | 0x20 <= 0x7A || 0x30...0x39 ~= letter || letter == 0x5F
            {
                at += 1
                return Int(letter) % 32
            }
            at -= 1
            return 0x5C
        default: return ["b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13][escaped] ?? Int(units[at - 1])
        }
    }
}
