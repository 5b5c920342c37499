package import ServerSchema

/// Which types a `convert` step leads between.
extension Conversion {
    /// Whether a step converts to the type at all.
    package static func reaches(_ type: SchemaType) -> Bool { type == .uuid || targets.contains(type) }

    /// Whether a step converts values of one type to another, be it only some of them.
    package static func leads(from: SchemaType, to: SchemaType) -> Bool {
        switch (from, to) {
        case (.uuid, .string), (.string, .uuid), (.binData, .uuid): true
        case (.mixed, _): reaches(to)
        default: from == to || Conversion(target: to).sources.contains(from.rawValue)
        }
    }
}
