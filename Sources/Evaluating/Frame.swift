package import BSON

/// The top-level fields that a group of expressions reads; one pass over a document finds all of them.
package struct SharedFields: Sendable {
    /// The names of the fields; a field's index is its index in ``Frame/fields``.
    private(set) var names: [String] = []
    /// The largest number of variables that one of the expressions binds.
    var slotCount = 0

    package init() {}

    /// Returns the index of a field, which is added if it is new; `nil` if the group already has
    /// ``Frame/maximumFields`` other fields.
    package mutating func index(of name: String) -> Int? {
        // Swift considers two spellings of é equal, so the bytes are compared.
        if let known = names.firstIndex(where: { $0.utf8.elementsEqual(name.utf8) }) { return known }
        guard names.count < Frame.maximumFields else { return nil }
        names.append(name)
        return names.count - 1
    }

    package func frame() -> Frame { Frame(slotCount: slotCount) }
}

/// The memory in which expressions are evaluated, for one document after another.
package struct Frame: Sendable {
    /// The largest number of top-level fields that one pass over a document finds.
    static let maximumFields = 16

    /// The values of the variables that an expression binds.
    ///
    /// An expression binds each variable before it reads it, so the values of an earlier evaluation are never read.
    var slots: [Operand]
    /// The first field of each name in ``SharedFields/names``; `nil` for a missing field.
    package private(set) var fields = InlineArray<16, BSONElement?>(repeating: nil)

    init(slotCount: Int = 0) { slots = slotCount > 0 ? Array(repeating: .missing, count: slotCount) : [] }

    /// Finds the group's fields in the document that is evaluated next.
    /// - Throws: ``NotEvaluated`` if the document is damaged.
    package mutating func locate(_ group: SharedFields, in document: borrowing BSONView) throws(NotEvaluated) {
        let count = group.names.count
        for index in 0..<count { fields[index] = nil }
        var (position, left) = (document.firstPosition, count)
        while left > 0, let element = try document.nextElement(&position) {
            for index in 0..<count where group.names[index].utf8.count == element.nameLength {
                guard fields[index] == nil, document.nameBytes(element).isEqual(to: group.names[index])
                else { continue }
                fields[index] = element
                left -= 1
            }
        }
    }
}
