import ServerSchema

/// The group of JSON Schema versions to which a file belongs; all versions of a group are translated in the same way.
enum Draft {
    /// OpenAPI 3.0, Swagger 2.0, and the drafts up to 7: keywords next to `$ref` have no effect.
    case upTo7
    /// Draft 2019-09 and later, and OpenAPI 3.1 and later: keywords next to `$ref` also apply.
    case since2019

    /// Determines the version that the file states; the latest one if the file states none.
    init(_ root: LocatedJSON) {
        if root["swagger"] != nil {
            self = .upTo7
        } else if let version = root["openapi"]?.text {
            self = version.hasPrefix("3.0") ? .upTo7 : .since2019
        } else {
            let isOld = root["$schema"]?.text?.contains("json-schema.org/draft-0") ?? false
            self = isOld ? .upTo7 : .since2019
        }
    }
}
