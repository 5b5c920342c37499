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
