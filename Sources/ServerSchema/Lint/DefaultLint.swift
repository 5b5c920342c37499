internal import BSON

/// Lint rules for the defaults of properties: `default-type`, `default-on-optional`.
enum DefaultLint {
    static func findings(at place: LintPlace) -> [LintFinding] {
        guard let value = place.node.defaultValue, value != .null else { return [] }
        var findings: [LintFinding] = []
        if let type = place.node.types.first, place.node.types.count == 1, !type.admits(value) {
            findings.append(
                place.finding(
                    .defaultType, .error,
                    "the default is of type \(value.type), and the property of type \(type.rawValue): the server does "
                        + "not notice, and clients will lack the field",
                    remedy: "give a default of the property's type"))
        }
        if place.propertyName != nil, !place.isRequired {
            findings.append(
                place.finding(
                    .defaultOnOptional, .warning, "the property is optional, and defaults are for required ones",
                    remedy: "list it in required, or leave the default out"))
        }
        return findings
    }
}

extension SchemaType {
    /// Whether a value is of this type.
    ///
    /// `long` also allows an int, `number` allows every number, and `mixed` allows every value.
    func admits(_ value: BSONValue) -> Bool {
        switch (self, value) {
        case (.mixed, _), (.long, .int), (.number, .int), (.number, .long), (.number, .double), (.number, .decimal):
            true
        case (.uuid, .binary(let subtype, let bytes)): subtype == 4 && bytes.count == 16
        default: rawValue == value.type.description
        }
    }
}
