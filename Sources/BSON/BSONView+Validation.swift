extension BSONView {
    /// Walks the document at every depth and checks every length, type, terminator and bool.
    ///
    /// As in mongod, strings and names need not be UTF-8, an array's names may be any, and the old binary subtype 2
    /// may hold an inner length that does not fit.
    /// - Throws: ``BSONError`` at the first byte that is not possible, or when the document is nested more than
    ///   ``maximumDepth`` levels deep.
    public func validate() throws(BSONError) { try validate(levels: Self.maximumDepth) }

    /// Does the same, with a smaller limit: a document of scalars alone needs 0 levels.
    func validate(levels: Int) throws(BSONError) {
        var position = firstPosition
        while let element = try step(&position) { try validate(element, levels: levels) }
    }

    /// Does the same with the value of an element, which may have so many levels of its own: one of a scalar needs 0.
    @inlinable
    @inline(__always)
    package func validate(_ element: BSONElement, levels: Int) throws(BSONError) {
        // Literals, because another module's constant is a call.
        switch element.type.rawValue {
        case 0x03, 0x04: try validate(document(element), levels: levels)  // object, array
        case 0x0F: try validate(scope(element), levels: levels)  // javascriptWithScope
        case 0x08:
            guard byte(element.valueOffset) <= 1 else { throw BSONError(.invalidBool, at: element.valueOffset) }
        default: break
        }
    }

    @usableFromInline
    func validate(_ inner: borrowing BSONView, levels: Int) throws(BSONError) {
        guard levels > 0 else { throw BSONError(.tooDeep, at: inner.start) }
        try inner.validate(levels: levels - 1)
    }
}
