extension BSONDocument {
    /// Whether two documents hold the same fields with the same bytes, in whatever order, at every level.
    ///
    /// Unlike ``BSONView/hasEqualFields(to:)`` it tells numbers of different types apart.
    public func hasSameFields(as other: BSONDocument) -> Bool {
        if bytes == other.bytes { return true }
        guard bytes.count == other.bytes.count else { return false }
        return ordered == other.ordered
    }

    /// The document with the fields of every object in the order of their names.
    public var ordered: BSONDocument {
        guard let elements = try? elements() else { return self }
        let named = elements.enumerated().sorted {
            $0.element.name.utf8.elementsEqual($1.element.name.utf8)
                ? $0.offset < $1.offset : $0.element.name.utf8.lexicographicallyPrecedes($1.element.name.utf8)
        }
        return BSONDocument(named.map { ($0.element.name, $0.element.value.ordered) })
    }
}

extension BSONValue {
    fileprivate var ordered: BSONValue {
        switch self {
        case .object(let document): .object(document.ordered)
        case .array(let document): .array(of: document.values.map(\.ordered))
        default: self
        }
    }
}
