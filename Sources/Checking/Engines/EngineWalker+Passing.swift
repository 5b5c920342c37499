import BSON

/// The values that break no rule, as far as a few comparisons show: nearly all values of most collections.
///
/// The loops over them have few variables, so that these stay in registers. The loops end at any other value, and at
/// damaged bytes, which the walker then judges.
extension EngineWalker {
    /// The walker's progress through the top-level fields of a document.
    struct Progress {
        var position: Int
        /// The number of judged fields.
        var count = 0
        /// The number of judged fields that are in ``fields``.
        var known = 0
        /// The index in ``fields`` of the field that the document probably has next.
        var expected = 0
        var seen = SeenNames()

        init(position: Int) { self.position = position }
    }

    @inline(__always)
    func pass(_ progress: inout Progress, of view: borrowing BSONView) {
        while passExpected(&progress, of: view), passOthers(&progress, of: view) {}
    }

    /// Moves past the next fields, as long as they have the names that are expected and break no rule.
    /// - Returns: Whether the field after them has another name than the one that is expected.
    @inline(never)
    private func passExpected(_ progress: inout Progress, of view: borrowing BSONView) -> Bool {
        var (position, index, hasOtherName) = (progress.position, progress.expected, true)
        while isNextExpected(position, index, in: view) {
            let length = unsafe Int(lookup.matchers[unchecked: index].length)
            let (type, offset) = (view.byte(position), position &+ 2 &+ length)
            hasOtherName = false
            guard mayPass(type, at: offset, field: index, in: view) else { break }
            let end = end(ofPassing: type, at: offset, before: view.end, in: view, levels: levels)
            guard end > 0, unsafe progress.seen.insert(fields[unchecked: index].mark) else { break }
            (position, index, hasOtherName) = (end, index &+ 1, true)
        }
        progress.known &+= index &- progress.expected
        progress.count &+= index &- progress.expected
        (progress.position, progress.expected) = (position, index)
        return hasOtherName
    }

    /// Moves past the next fields, as long as they break no rule, up to a field with the name that is expected.
    /// - Returns: Whether it reached such a field.
    @inline(never)
    private func passOthers(_ progress: inout Progress, of view: borrowing BSONView) -> Bool {
        while true {
            let (type, start) = (view.byte(progress.position), progress.position &+ 1)
            guard type != 0, view.byteCount >= 8 else { return false }
            let nameEnd = nameEnd(from: start, in: view)
            guard nameEnd > 0 else { return false }
            let key = FieldKey(view.bytes, at: start, length: nameEnd &- start)
            let mark = SeenNames.mark(of: key)
            guard unsafe !facts[unchecked: 0].reserves(key) else { return false }
            let isKnown = unsafe progress.known < fields.count && facts[unchecked: 0].marks.contains(mark)
            let found = isKnown ? lookup.search(key, in: view.bytes, among: range) : -1
            guard found < 0 || mayPass(type, at: nameEnd &+ 1, field: found, in: view) else { return false }
            let end = end(ofPassing: type, at: nameEnd &+ 1, before: view.end, in: view, levels: levels)
            guard end > 0, progress.seen.insert(mark) else { return false }
            progress.position = end
            progress.count &+= 1
            if found >= 0 { (progress.expected, progress.known) = (found &+ 1, progress.known &+ 1) }
            if isNextExpected(progress.position, progress.expected, in: view) { return true }
        }
    }

    @inline(__always)
    private func isNextExpected(_ position: Int, _ expected: Int, in view: borrowing BSONView) -> Bool {
        guard expected < fields.count else { return false }
        return unsafe lookup.matchers[unchecked: expected].matches(at: position &+ 1, in: view, names: lookup.names)
    }

    /// Whether the rule for a field accepts values of a type without a check of the value.
    @inline(__always)
    private func mayPass(_ type: UInt8, at offset: Int, field index: Int, in view: borrowing BSONView) -> Bool {
        unsafe fields[unchecked: index].plain.has(type) || isTrue(type, at: offset, field: index, in: view)
    }

    /// Whether the value is an `_id` that is neither an empty string nor 0.
    @inline(never)
    private func isTrue(_ type: UInt8, at offset: Int, field index: Int, in view: borrowing BSONView) -> Bool {
        guard fields[index].trueTypes.has(type), offset &+ 9 <= view.end else { return false }
        let bits = view.word(offset)
        return switch type {
        case 0x02: UInt32(truncatingIfNeeded: bits) > 1
        case 0x10: UInt32(truncatingIfNeeded: bits) != 0
        default: bits != 0
        }
    }

    /// Whether a value and all values inside it break no rule, as far as a few comparisons show.
    /// - Parameter levels: The number of levels that the value may have below it; -1 if it must not have values inside.
    @inline(never)
    func isPassing(_ element: BSONElement, of view: borrowing BSONView, levels: Int) -> Bool {
        let (type, offset) = (element.type.rawValue, element.valueOffset)
        return end(ofPassing: type, at: offset, before: view.end, in: view, levels: levels) > 0
    }

    /// Whether the values of an object or array, and the names inside it, break no rule, as far as a few comparisons
    /// show.
    @inline(never)
    private func arePassing(from start: Int, to end: Int, in view: borrowing BSONView, levels: Int) -> Bool {
        guard levels >= 0 else { return false }
        var position = start
        while true {
            let type = view.byte(position)
            if type == 0 { return position == end &- 1 }
            let nameEnd = nameEnd(from: position &+ 1, in: view)
            guard nameEnd > 0 else { return false }
            position = self.end(ofPassing: type, at: nameEnd &+ 1, before: end, in: view, levels: levels &- 1)
            guard position > 0 else { return false }
        }
    }

    /// Returns the position of the NUL after a name; 0 if the name is not ASCII.
    @inline(__always)
    private func nameEnd(from offset: Int, in view: borrowing BSONView) -> Int {
        let word = view.lastWord(offset)
        let zeros = (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
        // The bits below the lowest bit of `zeros` belong to the name.
        guard word & ~zeros & (zeros &- 1) & 0x8080_8080_8080_8080 == 0 else { return 0 }
        guard zeros == 0 else { return offset &+ (zeros.trailingZeroBitCount &>> 3) }
        return longNameEnd(from: offset &+ 8, in: view)
    }

    @inline(never)
    private func longNameEnd(from offset: Int, in view: borrowing BSONView) -> Int { nameEnd(from: offset, in: view) }

    /// Returns the offset after a value if the value breaks no rule, as far as a few comparisons show; else 0.
    @inline(__always)
    private func end(
        ofPassing type: UInt8, at offset: Int, before end: Int, in view: borrowing BSONView, levels: Int
    ) -> Int {
        guard quick.has(type) else { return 0 }
        let next: Int
        switch type {
        case 0x01, 0x09:  // double, date
            next = offset &+ 8
            guard next < end, isInRange(view.word(offset), isDouble: type == 1) else { return 0 }
        case 0x02:  // string
            next = offset &+ 4 &+ Int(UInt32(truncatingIfNeeded: view.lastWord(offset)))
            guard next > offset &+ 4, next < end, view.byte(next &- 1) == 0 else { return 0 }
            let isText = !judgesText || isASCII(offset &+ 4, next, in: view)
            guard isText || view.bytes.extracting(offset &+ 4..<next &- 1).isUTF8 else { return 0 }
        case 0x03, 0x04:  // object, array
            next = offset &+ Int(UInt32(truncatingIfNeeded: view.lastWord(offset)))
            guard next >= offset &+ 5, next < end else { return 0 }
            let isSkipped = !watched.contains(.object)
            guard isSkipped || arePassing(from: offset &+ 4, to: next, in: view, levels: levels) else { return 0 }
        case 0x05:  // binData, of which only UUIDs pass
            next = offset &+ 21
            guard next < end, view.word(offset) & 0xFF_FFFF_FFFF == 0x04_0000_0010 else { return 0 }
        case 0x07: next = offset &+ 12  // objectId
        case 0x08: next = offset &+ 1  // bool
        case 0x0A: next = offset  // null
        case 0x10: next = offset &+ 4  // int
        case 0x11, 0x12: next = offset &+ 8  // timestamp, long
        case 0x13: next = offset &+ 16  // decimal
        default: return 0
        }
        return next < end ? next : 0
    }

    /// Whether a string that ends with a NUL before `end` is ASCII; `false` as well if the field's name is not.
    @inline(__always)
    private func isASCII(_ start: Int, _ end: Int, in view: borrowing BSONView) -> Bool {
        // The last eight bytes of a short string begin in its length or in its name.
        var (at, bits) = (start, view.word(end &- 8))
        while at < end &- 8 {
            bits |= view.word(at)
            at &+= 8
        }
        return bits & 0x8080_8080_8080_8080 == 0
    }

    @inline(__always)
    private func isInRange(_ bits: UInt64, isDouble: Bool) -> Bool {
        if isDouble { return Double(bitPattern: bits).isFinite }
        return Int64(bitPattern: bits) >= earliest && Int64(bitPattern: bits) <= latest
    }
}

extension TypeMask {
    /// Whether the set has a type; may be wrong for types of which ``EngineWalker`` lets no value pass.
    @inline(__always)
    fileprivate func has(_ type: UInt8) -> Bool { rawValue &>> UInt32(type) & 1 != 0 }
}
