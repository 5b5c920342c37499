import ServerSchema

/// The place of a schema that is translated.
struct Place {
    /// The path of the values that the schema describes.
    var path = SchemaPath()
    /// Whether the schema judges documents as a whole: the root, and the schemas that are combined there.
    var isWhole = true
    /// The innermost part of the file around the schema that has a `$id`, or else the root; pointers begin there.
    var resource: LocatedJSON

    /// Whether the values are the documents' `_id`s.
    var isID: Bool { path.steps == [.field("_id")] }

    /// Returns the place of the values one step inside.
    func inside(_ step: SchemaPath.Step) -> Place {
        Place(path: path.appending(step), isWhole: false, resource: resource)
    }
}
