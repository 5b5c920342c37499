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
        while let element = try step(&position) {
            switch element.type {
            case .object, .array: try validate(document(element), levels: levels)
            case .javascriptWithScope: try validate(scope(element), levels: levels)
            case .bool:
                guard byte(element.valueOffset) <= 1 else { throw BSONError(.invalidBool, at: element.valueOffset) }
            default: break
            }
        }
    }

    private func validate(_ inner: borrowing BSONView, levels: Int) throws(BSONError) {
        guard levels > 0 else { throw BSONError(.tooDeep, at: inner.start) }
        try inner.validate(levels: levels - 1)
    }
}
