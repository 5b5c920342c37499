extension FieldPath {
    /// The paths of the objects that the field stands in, from the outermost; empty for a field of the document itself.
    public var parents: [FieldPath] {
        components.indices.dropFirst().map { FieldPath(trusted: Array(components[..<$0])) }
    }

    /// Joins names that are known to be good.
    package init(trusted components: [String]) { self.components = components }
}
