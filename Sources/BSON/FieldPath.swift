/// The way to a field inside nested objects: `address.city`.
///
/// A path never leads into an array by itself: MongoDB's own paths do, which is why a repair must not trust them. Where a
/// job means the elements of a list, or the values of a dictionary, it says so by the name `[]`: `pets.[].toy`.
public struct FieldPath: Hashable, Sendable {
    /// The names from the outermost to the innermost; never empty.
    public let components: [String]

    /// Reads a dotted path.
    /// - Throws: ``FieldPathError`` when no field can be reached by it.
    public init(_ text: String) throws(FieldPathError) {
        let components = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        for (index, component) in components.enumerated() {
            if let code = Self.problem(component, isWhole: components.count == 1) {
                throw FieldPathError(code, path: text, component: index)
            }
        }
        self.components = components
    }

    private static func problem(_ component: String, isWhole: Bool) -> FieldPathError.Code? {
        if component.isEmpty { return isWhole ? .empty : .emptyComponent }
        if component.utf8.first == UInt8(ascii: "$") { return .leadingDollar }
        return component.utf8.contains(0) ? .containsNUL : nil
    }
}

extension FieldPath: CustomStringConvertible {
    /// The components, joined by dots.
    public var description: String { components.joined(separator: ".") }
}

/// Why a text is no ``FieldPath``.
public struct FieldPathError: Error, Hashable, Sendable {
    /// The kind of defect.
    ///
    /// Open: later versions may add kinds.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// A short stable name.
        public let rawValue: String
        /// Wraps a name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// There is no text.
        public static let empty = Self(rawValue: "the path is empty")
        /// A dot stands at an end, or two dots stand together.
        public static let emptyComponent = Self(rawValue: "a name is empty")
        /// A name begins with `$`, which MongoDB takes for an operator.
        public static let leadingDollar = Self(rawValue: "a name begins with $")
        /// A name contains a NUL, which BSON cannot hold.
        public static let containsNUL = Self(rawValue: "a name contains a NUL")
    }

    /// The kind of defect.
    public let code: Code
    /// The text as it was given.
    public let path: String
    /// The place of the name in the path, from 0.
    public let component: Int

    init(_ code: Code, path: String, component: Int) {
        self.code = code
        self.path = path
        self.component = component
    }
}

extension FieldPathError: CustomStringConvertible {
    /// The path, the defect, and which name it concerns.
    public var description: String {
        code == .empty ? code.rawValue : "path \"\(path)\": \(code.rawValue) (name \(component + 1))"
    }
}

/// What stands at a ``FieldPath`` in a document.
public enum FieldLookup: ~Escapable {
    /// The element, and the view that it belongs to: the innermost object.
    case found(BSONElement, BSONView)
    /// The object that should hold the name of that index in the path does not.
    case missing(component: Int)
    /// The field of that index in the path is no object, so that nothing can stand below it.
    case blocked(component: Int, by: BSONType)
}

extension FieldPath {
    /// Looks the field up, through objects only; of repeated names the first counts, as in mongod.
    /// - Throws: ``BSONError`` when the bytes on the way are damaged.
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
    /// The paths of the objects that the field stands in, from the outermost; empty for a field of the document itself.
    public var parents: [FieldPath] {
        components.indices.dropFirst().map { FieldPath(trusted: Array(components[..<$0])) }
    }

    /// Joins names that are known to be good.
    package init(trusted components: [String]) { self.components = components }
}
