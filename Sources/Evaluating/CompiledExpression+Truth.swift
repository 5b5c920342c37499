package import BSON

/// Evaluates nodes as conditions.
extension CompiledExpression {
    func truth(
        _ node: NodeID, _ document: borrowing BSONView, _ frame: inout Frame
    ) throws(NotEvaluated) -> Bool {
        switch table[node] {
        case .all(let parts):
            for place in parts where try !truth(table[operand: place], document, &frame) { return false }
            return true
        case .any(let parts):
            for place in parts where try truth(table[operand: place], document, &frame) { return true }
            return false
        case .not(let part): return try !truth(part, document, &frame)
        case .fieldHasType(let index, let types): return types.contains(frame.fields[Int(index)]?.type)
        case .hasType(let subject, let types): return types.contains(try value(subject, document, &frame).type)
        case .compare(let order, let left, let right):
            let (left, right) = (try value(left, document, &frame), try value(right, document, &frame))
            return order.admits(try compare(left, right, document))
        case .isAmong(let subject, let list):
            let subject = try value(subject, document, &frame)
            var isFound = false
            try eachElement(of: list, document, &frame) { element, _, document throws(NotEvaluated) in
                if !isFound { isFound = try compare(subject, element, document) == .equal }
            }
            return isFound
        case .isSame(let values, let slot, let condition):
            try bind(values, from: slot, document, &frame)
            let (left, right) = (frame.slots[Int(slot)], frame.slots[Int(slot) + 1])
            if let areSame = areSame(left, right, document) { return areSame }
            return try truth(condition, document, &frame)
        case .someElement(let list):
            var isFound = false
            try eachTruth(of: list, document, &frame) { isFound = isFound || $0 }
            return isFound
        case .everyElement(let list):
            var hasAll = true
            try eachTruth(of: list, document, &frame) { hasAll = hasAll && $0 }
            return hasAll
        case .changesByMerging(let subject, let seesKeys):
            return try changesByMerging(subject, seesKeys: seesKeys, document, &frame)
        case .choose(let condition, let then, let other):
            return try truth(condition, document, &frame)
                ? truth(then, document, &frame) : truth(other, document, &frame)
        case .bind(let values, let slot, let body):
            try bind(values, from: slot, document, &frame)
            return try truth(body, document, &frame)
        default: return isTrue(try value(node, document, &frame), document)
        }
    }

    /// Whether a value counts as true; every value does, except false, null, undefined, zeros and a missing value.
    private func isTrue(_ operand: Operand, _ document: borrowing BSONView) -> Bool {
        switch operand.type {
        case nil, .null, .undefined: return false
        case .bool:
            return switch operand {
            case .element(let element): document.bool(element)
            case .value(.bool(let flag)): flag
            default: false
            }
        default:
            guard let number = operand.number(in: document) else { return true }
            return number.compared(to: .integer(0)) != .equal
        }
    }

    func bind(
        _ values: Node.Operands, from slot: Node.Slot, _ document: borrowing BSONView, _ frame: inout Frame
    ) throws(NotEvaluated) {
        for (slot, place) in zip(Int(slot)..., values) {
            frame.slots[slot] = try value(table[operand: place], document, &frame)
        }
    }

    // MARK: Elements

    /// Calls `body` with each element of the array to which a node evaluates.
    ///
    /// Throws if the value is not an array, because the server then ends the command with an error.
    func eachElement(
        of list: NodeID, _ document: borrowing BSONView, _ frame: inout Frame,
        _ body: (Operand, inout Frame, borrowing BSONView) throws(NotEvaluated) -> Void
    ) throws(NotEvaluated) {
        switch table[list] {
        case .array(let parts):
            for place in parts {
                let element = try value(table[operand: place], document, &frame)
                try body(element.type == nil ? .value(.null) : element, &frame, document)
            }
        case .choose(let condition, let then, let other):
            let branch = try truth(condition, document, &frame) ? then : other
            try eachElement(of: branch, document, &frame, body)
        case .map(let input, let slot, let element):
            try eachElement(of: input, document, &frame) { item, frame, document throws(NotEvaluated) in
                frame.slots[Int(slot)] = item
                let mapped = try value(element, document, &frame)
                // A missing value becomes null in an array.
                try body(mapped.type == nil ? .value(.null) : mapped, &frame, document)
            }
        case .filter(let input, let slot, let condition):
            try eachElement(of: input, document, &frame) { item, frame, document throws(NotEvaluated) in
                frame.slots[Int(slot)] = item
                if try truth(condition, document, &frame) { try body(item, &frame, document) }
            }
        default: try eachElement(of: try value(list, document, &frame), document, &frame, body)
        }
    }

    func eachElement(
        of list: Operand, _ document: borrowing BSONView, _ frame: inout Frame,
        _ body: (Operand, inout Frame, borrowing BSONView) throws(NotEvaluated) -> Void
    ) throws(NotEvaluated) {
        switch list {
        case .element(let element) where element.type == .array:
            let array = try view(of: element, document)
            var position = array.firstPosition
            while let element = try array.nextElement(&position) { try body(.element(element), &frame, document) }
        case .value(.array(let array)):
            for value in array.values { try body(.value(value), &frame, document) }
        default: throw NotEvaluated(.failure)
        }
    }

    /// Calls `take` for each element of an array, and passes whether the element counts as true.
    ///
    /// If the array is the result of a `$map`, the array itself is not built.
    private func eachTruth(
        of list: NodeID, _ document: borrowing BSONView, _ frame: inout Frame, _ take: (Bool) -> Void
    ) throws(NotEvaluated) {
        guard case .map(let input, let slot, let body) = table[list] else {
            return try eachElement(of: list, document, &frame) { element, _, document throws(NotEvaluated) in
                take(isTrue(element, document))
            }
        }
        try eachElement(of: input, document, &frame) { element, frame, document throws(NotEvaluated) in
            frame.slots[Int(slot)] = element
            take(try truth(body, document, &frame))
        }
    }

    /// Returns a view of the document or array that an element holds.
    @_lifetime(copy document)
    func view(of element: BSONElement, _ document: borrowing BSONView) throws(NotEvaluated) -> BSONView {
        do { return try document.document(element) } catch { throw NotEvaluated(.damage) }
    }

    // MARK: Order

    /// Whether two values of the document have the same type and the same bytes.
    ///
    /// `nil` if one of the values was computed, or if equal values of their type can have different bytes.
    private func areSame(_ left: Operand, _ right: Operand, _ document: borrowing BSONView) -> Bool? {
        guard case .element(let left) = left, case .element(let right) = right else { return nil }
        guard left.type == right.type else { return false }
        switch left.type {
        case .string, .int, .long, .bool, .date, .objectId:
            return document.valueBytes(left).isEqual(to: document.valueBytes(right))
        default: return nil
        }
    }

    /// Returns how two values compare by MongoDB's order of BSON values.
    func compare(
        _ left: Operand, _ right: Operand, _ document: borrowing BSONView
    ) throws(NotEvaluated) -> BSONOrder {
        guard let leftType = left.type, let rightType = right.type else {
            // Whether undefined equals a missing value depends on the server's version.
            guard left.type != .undefined, right.type != .undefined else { throw NotEvaluated(.version) }
            return BSONOrder(left.type.map(\.sortPlace) ?? 0, right.type.map(\.sortPlace) ?? 0)
        }
        guard leftType.sortPlace == rightType.sortPlace else {
            return BSONOrder(leftType.sortPlace, rightType.sortPlace)
        }
        if let left = left.number(in: document), let right = right.number(in: document) {
            return left.compared(to: right)
        }
        if case .element(let left) = left, case .element(let right) = right {
            return document.compare(left, to: right, of: document)
        }
        guard let left = try left.value(in: document), let right = try right.value(in: document) else { return .equal }
        return BSONOrder.compare(left, right)
    }
}

extension BSONOrder {
    fileprivate init(_ left: Int, _ right: Int) { self = left < right ? .less : left > right ? .greater : .equal }
}

extension Node.Order {
    /// Whether two values fulfil this comparison, such as `less`, if `order` is the result of comparing them.
    func admits(_ order: BSONOrder) -> Bool {
        switch self {
        case .equal: order == .equal
        case .unequal: order != .equal
        case .less: order == .less
        case .atMost: order != .greater
        case .greater: order == .greater
        case .atLeast: order != .less
        }
    }
}

/// Checks whether `$mergeObjects` changes an object. With `seesKeys`, any change of its bytes counts; otherwise, only a
/// change of its size counts.
///
/// `$mergeObjects` keeps one field of each repeated name, and renumbers the keys of arrays.
extension CompiledExpression {
    private func changesByMerging(
        _ subject: NodeID, seesKeys: Bool, _ document: borrowing BSONView, _ frame: inout Frame
    ) throws(NotEvaluated) -> Bool {
        if case .path(.root, let names) = table[subject], names.isEmpty {
            return try changesByMerging(document, seesKeys: seesKeys)
        }
        switch try value(subject, document, &frame) {
        case .element(let element) where element.type == .object:
            return try changesByMerging(try view(of: element, document), seesKeys: seesKeys)
        case .value(.object(let object)): return try changesByMerging(object.view, seesKeys: seesKeys)
        default: throw NotEvaluated(.failure)
        }
    }

    private func changesByMerging(_ object: borrowing BSONView, seesKeys: Bool) throws(NotEvaluated) -> Bool {
        guard try object.mayChangeByMerging() else { return false }
        var merged = MergedFields()
        try merged.add(object)
        return seesKeys
            ? merged.document != BSONDocument(copying: object) : merged.document.bytes.count != object.byteCount
    }
}

extension BSONView {
    /// The largest number of fields in an object whose names are compared with each other directly.
    ///
    /// In an object with more fields, the hashes of the names are compared.
    private static let fewFields = 24

    /// Whether the object may repeat a field name, or may have an array whose keys are not 0, 1, 2 and so on.
    ///
    /// If the result is `false`, `$mergeObjects` does not change the object. If it is `true`, the object must be merged
    /// to see whether it changes.
    func mayChangeByMerging() throws(NotEvaluated) -> Bool {
        do throws(BSONError) { return try mayRepeatOrRenumber() } catch { throw NotEvaluated(.damage) }
    }

    private func mayRepeatOrRenumber() throws(BSONError) -> Bool {
        var (low, high, count) = (UInt64(0), UInt64(0), 0)
        var isCrowded = false
        var position = firstPosition
        while let element = try next(&position) {
            if element.type == .array, try document(element).hasOddKeys() { return true }
            if isCrowded { continue }
            count += 1
            // Each name sets one bit of the 128-bit mask in `low` and `high`. Only names with the same bit can be
            // equal.
            let ends =
                element.nameLength == 0
                ? 0 : Int(byte(element.nameOffset)) &* 7 &+ Int(byte(element.nameOffset + element.nameLength - 1)) &* 3
            let bit = (ends &+ element.nameLength &* 31) & 127
            let isTaken = bit < 64 ? low & 1 << UInt64(bit) != 0 : high & 1 << UInt64(bit - 64) != 0
            if isTaken {
                isCrowded = count > Self.fewFields
                if !isCrowded, try holds(nameOf: element, before: element.nameOffset) { return true }
            }
            if bit < 64 { low |= 1 << UInt64(bit) } else { high |= 1 << UInt64(bit - 64) }
        }
        return isCrowded ? try mayRepeatAName() : false
    }

    private func mayRepeatAName() throws(BSONError) -> Bool {
        var hashes: [UInt64] = []
        var position = firstPosition
        while let element = try next(&position) {
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325
            for offset in element.nameOffset..<element.nameOffset + element.nameLength {
                hash = (hash ^ UInt64(byte(offset))) &* 0x0000_0100_0000_01B3
            }
            hashes.append(hash)
        }
        hashes.sort()
        return zip(hashes, hashes.dropFirst()).contains { $0 == $1 }
    }

    private func holds(nameOf element: BSONElement, before end: Int) throws(BSONError) -> Bool {
        var position = firstPosition
        while let other = try next(&position), other.nameOffset < end {
            if nameBytes(other).isEqual(to: nameBytes(element)) { return true }
        }
        return false
    }

    /// Whether this array, or an array inside it, has other keys than 0, 1, 2 and so on.
    ///
    /// The server would renumber such keys. Arrays inside an object do not count.
    package func hasOddKeys() throws(BSONError) -> Bool {
        var (position, index) = (firstPosition, 0)
        while let element = try next(&position) {
            guard isKey(element, index) else { return true }
            if element.type == .array, try document(element).hasOddKeys() { return true }
            index += 1
        }
        return false
    }

    /// Whether an element's name is this index in decimal digits.
    private func isKey(_ element: BSONElement, _ index: Int) -> Bool {
        var (rest, at) = (index, element.nameOffset + element.nameLength)
        repeat {
            at -= 1
            guard at >= element.nameOffset, byte(at) == UInt8(ascii: "0") + UInt8(rest % 10) else { return false }
            rest /= 10
        } while rest > 0
        return at == element.nameOffset
    }
}
