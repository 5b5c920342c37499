extension Constraints {
    /// The keywords that say what is demanded.
    package var keywords: [String] {
        let single: [(String, Bool)] = [
            ("minimum", minimum != nil), ("maximum", maximum != nil), ("multipleOf", multipleOf != nil),
            ("minLength", minLength != nil), ("maxLength", maxLength != nil), ("pattern", pattern != nil),
            ("enum", allowedValues != nil), ("minItems", minItems != nil), ("maxItems", maxItems != nil),
            ("additionalItems", additionalItems != nil), ("minProperties", minProperties != nil),
            ("maxProperties", maxProperties != nil), ("patternProperties", !patternProperties.isEmpty),
            ("dependencies", !dependencies.isEmpty), ("encrypt", encryption != nil),
        ]
        return single.filter(\.1).map(\.0) + combinations.map(\.kind.rawValue)
    }
}
