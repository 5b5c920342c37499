public import BSON
public import ServerSchema

extension SchemaChange {
    /// What one version of a schema has at the place of a change.
    public struct Side: Sendable {
        /// The collection, as this version names it; `nil` for a change of the app as a whole.
        public var namespace: Namespace?
        /// The place, as this version names it.
        public var path: SchemaPath
        /// What the version demands there; `nil` where the change is none of a schema.
        public var node: SchemaNode?
        /// Whether the object around must have the field.
        public var isRequired: Bool
        /// Where the field, or its elements or values, link to; `nil` when they do not.
        public var link: Relationship?
        /// Where it stands.
        public var location: SourceLocation

        /// Joins the parts.
        public init(
            namespace: Namespace?, path: SchemaPath, node: SchemaNode?, isRequired: Bool = false,
            link: Relationship? = nil, location: SourceLocation
        ) {
            self.namespace = namespace
            self.path = path
            self.node = node
            self.isRequired = isRequired
            self.link = link
            self.location = location
        }
    }
}

/// Two sides are the same when they stand at the same place: a node is known by where it was read.
extension SchemaChange.Side: Hashable {
    /// Whether both stand at the same place.
    public static func == (left: Self, right: Self) -> Bool {
        left.location == right.location && left.namespace == right.namespace && left.path == right.path
            && left.isRequired == right.isRequired && left.link == right.link
    }

    /// By the place.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(location)
        hasher.combine(namespace)
        hasher.combine(path)
    }
}
