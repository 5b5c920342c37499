/// A path to a field inside nested objects, such as `address.city`.
///
/// The path does not descend into arrays. MongoDB's own paths do, so a job that used them could change other fields as
/// well. In a job, the component `[]` means the elements of a list or the values of a dictionary, as in `pets[].toy`.
public struct FieldPath: Hashable, Sendable {
    /// The names, from the outermost object to the field; never empty.
    public let components: [String]

    /// The component `[]`, which means every element of a list or every value of a dictionary.
    package static let each = "[]"

    /// Reads a dotted path; `pets.[].toy` and, for a dictionary, `pets{}.toy` mean the same as `pets[].toy`.
    /// - Throws: ``FieldPathError`` when the text cannot name a field.
    public init(_ text: String) throws(FieldPathError) {
        let components = text.split(separator: ".", omittingEmptySubsequences: false).flatMap(Self.components)
        for (index, component) in components.enumerated() {
            if let code = Self.problem(component, isWhole: components.count == 1) {
                throw FieldPathError(code, path: text, component: index)
            }
        }
        self.components = components
    }

    /// Divides a part of the path without dots, such as `pets[]`, into its components.
    ///
    /// The components are the name, if there is one, and a `[]` for each `[]` or `{}` after it.
    private static func components(of text: Substring) -> [String] {
        var (name, marks) = (text, 0)
        while name.hasSuffix(each) || name.hasSuffix("{}") { (name, marks) = (name.dropLast(2), marks + 1) }
        return (name.isEmpty && marks > 0 ? [] : [String(name)]) + repeatElement(each, count: marks)
    }

    private static func problem(_ component: String, isWhole: Bool) -> FieldPathError.Code? {
        if component.isEmpty { return isWhole ? .empty : .emptyComponent }
        if component.utf8.first == UInt8(ascii: "$") { return .leadingDollar }
        return component.utf8.contains(0) ? .containsNUL : nil
    }
}

extension FieldPath: CustomStringConvertible {
    /// The components joined by dots; there is no dot before a `[]`.
    public var description: String {
        components.reduce(into: "") { text, component in
            text += (text.isEmpty || component == Self.each ? "" : ".") + component
        }
    }
}

/// The reason why a text is not a ``FieldPath``.
public struct FieldPathError: Error, Hashable, Sendable {
    /// The kind of defect.
    ///
    /// Later versions may add kinds.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The short stable name of the kind of defect.
        public let rawValue: String
        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The text is empty.
        public static let empty = Self(rawValue: "the path is empty")
        /// The path begins or ends with a dot, or contains two dots in a row.
        public static let emptyComponent = Self(rawValue: "a name is empty")
        /// A name begins with `$`, so that MongoDB would treat it as an operator.
        public static let leadingDollar = Self(rawValue: "a name begins with $")
        /// A name contains a NUL, which is impossible in BSON.
        public static let containsNUL = Self(rawValue: "a name contains a NUL")
    }

    /// The kind of defect.
    public let code: Code
    /// The text that was read as a path.
    public let path: String
    /// The index of the defective name in the path, counted from 0.
    public let component: Int

    init(_ code: Code, path: String, component: Int) {
        self.code = code
        self.path = path
        self.component = component
    }
}

extension FieldPathError: CustomStringConvertible {
    /// The error as text: the path, the defect, and the number of the defective name.
    public var description: String {
        code == .empty ? code.rawValue : "path \"\(path)\": \(code.rawValue) (name \(component + 1))"
    }
}

/// The result of looking up a ``FieldPath`` in a document.
public enum FieldLookup: ~Escapable {
    /// The element to which the path leads, and the view of the object that contains it.
    case found(BSONElement, BSONView)
    /// An object on the path lacks the field that the component with this index names.
    case missing(component: Int)
    /// The field that the component with this index names is not an object, so it cannot contain the next field.
    case blocked(component: Int, by: BSONType)
}

extension FieldPath {
    /// Follows the path through nested objects; if a name is repeated in an object, the first field counts, as in
    /// mongod.
    /// - Throws: ``BSONError`` when the bytes before the field are damaged.
    @_lifetime(copy view)
    public func lookup(in view: BSONView) throws(BSONError) -> FieldLookup {
        var view = view
        for (index, name) in components.enumerated() {
            guard let element = try view.find(name) else { return .missing(component: index) }
            if index == components.count - 1 { return .found(element, view) }
            guard element.type == .object else { return .blocked(component: index, by: element.type) }
            view = try view.document(element)
        }
        preconditionFailure("a path has a component")
    }
}

extension FieldPath {
    /// The paths of the objects that contain the field, the outermost first; empty for a top-level field.
    public var parents: [FieldPath] {
        components.indices.dropFirst().map { FieldPath(trusted: Array(components[..<$0])) }
    }

    /// Creates a path from names that are known to be valid.
    package init(trusted components: [String]) { self.components = components }
}
