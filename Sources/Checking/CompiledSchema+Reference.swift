extension CompiledSchema {
    /// A collection that a DBRef may lead to.
    struct Reference: Sendable, BitwiseCopyable {
        var database: FieldKey
        var collection: FieldKey
        /// Whether it stands in the database of the referring document, which a DBRef need not name then.
        var isNear: Bool
        /// The types of its `_id`s.
        var idTypes: TypeMask
        var hasUUIDs: Bool
    }
}
