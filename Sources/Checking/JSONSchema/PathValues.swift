import BSON

/// The values that a path of names leads to in a document, as MongoDB's match language finds them.
///
/// The path leads through arrays of objects, and through array indexes. Source: `BSONElementIterator` in mongod 6.0.
struct PathValues {
    /// The values, with an array at the path's end as one value; keywords of types, arrays and objects judge these.
    private(set) var whole: [BSONElement] = []
    /// The values, with the elements of an array at the path's end before the array; keywords of scalars judge these.
    private(set) var traversed: [BSONElement] = []

    private let components: [String]

    /// Whether the path leads to a value.
    var exist: Bool { !traversed.isEmpty }

    /// Creates the values of a path that leads to none.
    init() { components = [] }

    /// Follows the path from a document.
    /// - Throws: ``BSONError`` if the bytes on the path are damaged.
    init(_ components: [String], in view: borrowing BSONView) throws(BSONError) {
        self.components = components
        try followObject(view, from: 0)
    }

    private mutating func followObject(_ view: borrowing BSONView, from index: Int) throws(BSONError) {
        guard let element = try view.find(components[index]) else { return }
        let isLast = index + 1 == components.count
        if element.type == .object, !isLast {
            try followObject(view.document(element), from: index + 1)
        } else if element.type == .array {
            if endsInArray(after: index) { return try addArray(element, of: view) }
            try followArray(view.document(element), from: index + 1)
        } else if isLast {
            add(element)
        }
    }

    /// Whether an array at that component ends the path; a dot at the very end of the path does not continue it.
    private func endsInArray(after index: Int) -> Bool {
        index + 1 == components.count || index + 2 == components.count && components[index + 1].isEmpty
    }

    private mutating func followArray(_ array: borrowing BSONView, from index: Int) throws(BSONError) {
        let component = components[index]
        let isNumber = component.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        let isLast = index + 1 == components.count
        var position = array.firstPosition
        while let element = try array.next(&position) {
            if element.type == .object { try followObject(array.document(element), from: index) }
            guard isNumber, array.nameBytes(element).isEqual(to: component) else { continue }
            if isLast {
                // An element that the path names by its index is not traversed, even if it is an array itself.
                add(element)
            } else if element.type == .object {
                try followObject(array.document(element), from: index + 1)
            } else if element.type == .array {
                if endsInArray(after: index) {
                    try addElements(of: array.document(element))
                    add(element)
                } else {
                    try followArray(array.document(element), from: index + 1)
                }
            }
        }
    }

    private mutating func add(_ element: BSONElement) {
        whole.append(element)
        traversed.append(element)
    }

    private mutating func addElements(of array: borrowing BSONView) throws(BSONError) {
        var position = array.firstPosition
        while let element = try array.next(&position) { add(element) }
    }

    private mutating func addArray(_ element: BSONElement, of view: borrowing BSONView) throws(BSONError) {
        let array = try view.document(element)
        var position = array.firstPosition
        while let child = try array.next(&position) { traversed.append(child) }
        whole.append(element)
        traversed.append(element)
    }
}
