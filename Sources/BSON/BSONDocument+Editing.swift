extension BSONDocument {
    /// The document with one more element at its end; a name that is there already is then there twice.
    public func appending(_ name: String, _ value: BSONValue) -> BSONDocument {
        var builder = BSONBuilder(continuing: self)
        builder.append(name, value)
        return builder.finish()
    }

    /// The document without the top-level elements of that name.
    /// - Throws: ``BSONError`` when an element of the top level is damaged.
    public func removing(_ name: String) throws(BSONError) -> BSONDocument {
        var builder = BSONBuilder()
        let view = view
        var position = view.firstPosition
        while let element = try view.next(&position) {
            if !view.nameBytes(element).isEqual(to: name) { builder.append(element, of: view) }
        }
        return builder.finish()
    }

    /// The document with this value in the place of the first top-level element of that name, or at the end when
    /// there is none; further elements of that name go.
    /// - Throws: ``BSONError`` when an element of the top level is damaged.
    public func replacing(_ name: String, with value: BSONValue) throws(BSONError) -> BSONDocument {
        var builder = BSONBuilder()
        var isReplaced = false
        let view = view
        var position = view.firstPosition
        while let element = try view.next(&position) {
            if !view.nameBytes(element).isEqual(to: name) {
                builder.append(element, of: view)
            } else if !isReplaced {
                builder.append(name, value)
                isReplaced = true
            }
        }
        if !isReplaced { builder.append(name, value) }
        return builder.finish()
    }
}
