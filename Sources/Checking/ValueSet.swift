import BSON

/// Finds equal elements in an array.
enum ValueSet {
    /// The largest number of elements for which the search allocates nothing.
    static var smallCount: Int { 1_024 }

    /// Whether two elements of an array are equal, as `semantics.md` section 3.2 defines it.
    static func hasDuplicates(_ array: borrowing BSONView) throws(BSONError) -> Bool {
        // Every element has at least three bytes: its type, a name of one digit, and the name's terminator. The size of
        // an array can therefore show that it is small, without a count of its elements.
        if array.byteCount / 3 > smallCount, try count(array) > smallCount {
            return try hasDuplicatesAmongMany(array)
        }
        return try hasDuplicatesAmongFew(array)
    }

    private static func count(_ array: borrowing BSONView) throws(BSONError) -> Int {
        var count = 0
        var position = array.firstPosition
        while try array.next(&position) != nil { count += 1 }
        return count
    }

    /// Whether two elements of an array of few elements are equal; the search allocates nothing.
    ///
    /// The hash of each element sets one of 4,096 bits on the stack. Only an element whose bit is set already is
    /// compared with the elements before it.
    private static func hasDuplicatesAmongFew(_ array: borrowing BSONView) throws(BSONError) -> Bool {
        var marks = InlineArray<64, UInt64>(repeating: 0)
        var position = array.firstPosition
        var start = position
        while let element = try array.next(&position) {
            let hash = try ValueHash.hash(element, of: array, depth: 0)
            let word = Int(hash >> 58)
            let bit: UInt64 = 1 << ((hash >> 52) & 63)
            if marks[word] & bit != 0, try isRepeated(element, at: start, in: array) { return true }
            marks[word] |= bit
            start = position
        }
        return false
    }

    private static func isRepeated(
        _ element: BSONElement, at end: Int, in array: borrowing BSONView
    ) throws(BSONError) -> Bool {
        var position = array.firstPosition
        while position < end, let earlier = try array.next(&position) {
            if try array.isEqual(earlier, to: element, of: array) { return true }
        }
        return false
    }

    @inline(never)
    private static func hasDuplicatesAmongMany(_ array: borrowing BSONView) throws(BSONError) -> Bool {
        var seen: [UInt64: [BSONElement]] = [:]
        var position = array.firstPosition
        while let element = try array.next(&position) {
            let hash = try ValueHash.hash(element, of: array, depth: 0)
            for earlier in seen[hash] ?? []
            where try array.isEqual(earlier, to: element, of: array) {
                return true
            }
            seen[hash, default: []].append(element)
        }
        return false
    }
}
