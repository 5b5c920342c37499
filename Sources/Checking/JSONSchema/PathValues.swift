import BSON

/// The values that a path of names leads to in a document, as MongoDB's match language finds them.
///
/// The path leads through arrays of objects, and through array indexes. Source: `BSONElementIterator` in mongod 6.0.
struct PathValues {
    /// The values at the path's end, for schema keywords on types, arrays and objects; an array counts as one value.
    private(set) var whole: [BSONElement] = []
    /// The values at the path's end, for schema keywords on scalars, such as `minimum`.
    ///
    /// If the value at the path's end is an array, its elements come first, and then the array itself.
    private(set) var traversed: [BSONElement] = []

    /// Whether an object in an array on the path does not lead to the path's end.
    ///
    /// mongod then compares a missing value, too, which it takes to be equal to `undefined`. Source: answers of mongod,
    /// found by a random case.
    private(set) var hasGap = false

    private let components: [String]

    /// Whether the path leads to at least one value.
    var exist: Bool { !traversed.isEmpty }

    /// Creates an instance for a path that leads to no value.
    init() { components = [] }

    /// Collects the values at a path of the object in the view.
    /// - Throws: ``BSONError`` if the bytes on the path are damaged.
    init(_ components: [String], in view: borrowing BSONView) throws(BSONError) {
        self.components = components
        try followObject(view, from: 0, inArray: false)
    }

    private mutating func followObject(
        _ view: borrowing BSONView, from index: Int, inArray: Bool
    ) throws(BSONError) {
        guard let element = try view.find(components[index]) else {
            hasGap = hasGap || inArray
            return
        }
        let isLast = index + 1 == components.count
        if element.type == .object, !isLast {
            try followObject(view.document(element), from: index + 1, inArray: inArray)
        } else if element.type == .array {
            if endsInArray(after: index) { return try addArray(element, of: view) }
            try followArray(view.document(element), from: index + 1)
        } else if isLast {
            add(element)
        } else {
            hasGap = hasGap || inArray
        }
    }

    /// Whether an array at the component `index` is at the path's end.
    ///
    /// An empty last component, which comes from a dot at the end of the path, is ignored.
    private func endsInArray(after index: Int) -> Bool {
        index + 1 == components.count || index + 2 == components.count && components[index + 1].isEmpty
    }

    private mutating func followArray(_ array: borrowing BSONView, from index: Int) throws(BSONError) {
        let component = components[index]
        let isNumber = component.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        let isLast = index + 1 == components.count
        var position = array.firstPosition
        while let element = try array.next(&position) {
            if element.type == .object { try followObject(array.document(element), from: index, inArray: true) }
            guard isNumber, array.nameBytes(element).isEqual(to: component) else { continue }
            if isLast {
                // A path that ends in the index of an element leads to this element only. If the element is an array,
                // MongoDB does not also look at the elements inside it.
                add(element)
            } else if element.type == .object {
                try followObject(array.document(element), from: index + 1, inArray: true)
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
