/// A list of values, no two of which are equal.
///
/// Two values are equal here if `enum` in `$jsonSchema` treats them as equal: the order of an object's fields is
/// ignored.
package struct DistinctValues {
    /// The values, in the order in which they were inserted.
    package private(set) var values: [BSONValue] = []
    /// The indexes in ``values`` by hash; equal values have the same hash.
    private var places: [Int: [Int]] = [:]

    /// The number of comparisons between two values so far.
    package private(set) var comparisons = 0

    package init() {}

    /// Adds a value; returns `false`, without adding it, if an equal value is already in the list.
    package mutating func insert(_ value: BSONValue) -> Bool {
        var hasher = Hasher()
        Self.hash(value, into: &hasher)
        let hash = hasher.finalize()
        for place in places[hash] ?? [] {
            comparisons += 1
            if (try? values[place].isEqualIgnoringFieldOrder(value)) ?? false { return false }
        }
        places[hash, default: []].append(values.count)
        values.append(value)
        return true
    }

    /// Hashes only properties that equal values share, such as the nearest double of a number, or the sum of the hashes
    /// of an object's fields.
    private static func hash(_ value: BSONValue, into hasher: inout Hasher) {
        hasher.combine(value.type.sortPlace)
        switch value {
        case .int(let number): hasher.combine(Double(number))
        case .long(let number): hasher.combine(Double(number))
        case .double(let number): hasher.combine(number.isNaN ? .nan : number)
        case .decimal(let number): hasher.combine(Double("\(number)").map { $0.isNaN ? .nan : $0 } ?? .nan)
        case .string(let text), .symbol(let text): for byte in text.utf8 { hasher.combine(byte) }
        case .array(let document):
            for element in document.values { hash(element, into: &hasher) }
        case .object(let document):
            var sum = 0
            for (name, value) in (try? document.elements()) ?? [] {
                var field = Hasher()
                for byte in name.utf8 { field.combine(byte) }
                hash(value, into: &field)
                sum &+= field.finalize()
            }
            hasher.combine(sum)
        case .objectID(let id): hasher.combine(id)
        case .date(let milliseconds): hasher.combine(milliseconds)
        case .binary(_, let bytes): hasher.combine(bytes)
        default: break
        }
    }
}
