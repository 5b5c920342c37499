import ServerSchema

/// The context of the schema that is being translated.
///
/// The context consists of the path of the values that the schema describes, and the part of the file at which the JSON
/// pointers of the schema's references begin.
struct Place {
    /// The path of the values that the schema describes.
    var path = SchemaPath()
    /// Whether the schema judges whole documents: it is the root schema, or a schema that the root schema combines.
    var isWhole = true
    /// The innermost part of the file that contains the schema and has a `$id`, or else the root.
    ///
    /// The JSON pointers of the schema's references begin at this part.
    var resource: LocatedJSON

    var isID: Bool { path.steps == [.field("_id")] }

    /// Returns the place of the values that `step` leads to from the values of this place.
    func inside(_ step: SchemaPath.Step) -> Place {
        Place(path: path.appending(step), isWhole: false, resource: resource)
    }
}
