/// Lint rules for embedded objects and mixed values: `embedded-with-id`, `embedded-cycle`, `embedded-required`,
/// `mixed-required`, `dictionary-with-properties`.
enum EmbeddedLint {
    static func findings(at place: LintPlace) -> [LintFinding] {
        var findings: [LintFinding] = []
        if place.isEmbedded { findings += embedded(place) }
        if place.isRequired, place.node.types == [.mixed] {
            findings.append(
                place.finding(
                    .mixedRequired, .error, "a mixed property is always optional for clients",
                    remedy: "leave it out of required"))
        }
        if !place.node.properties.isEmpty, case .schema = place.node.additionalProperties {
            findings.append(
                place.finding(
                    .dictionaryWithProperties, .warning,
                    "it has properties and a schema in additionalProperties, so it counts as an embedded object",
                    remedy: "leave one of them out"))
        }
        return findings
    }

    private static func embedded(_ place: LintPlace) -> [LintFinding] {
        var findings: [LintFinding] = []
        if let id = place.node.property("_id") {
            findings.append(
                place.finding(
                    .embeddedWithID, .warning, "an embedded object cannot have a primary key: its _id is a plain field",
                    remedy: "rename it", at: id.location))
        }
        if let title = place.node.title, place.titlesAround.contains(title) {
            findings.append(
                place.finding(
                    .embeddedCycle, .error, "the embedded type \(title) contains itself",
                    remedy: "link to a collection instead"))
        }
        if place.isRequired {
            findings.append(
                place.finding(
                    .embeddedRequired, .error, "an embedded object is always optional for clients",
                    remedy: "leave it out of required"))
        }
        return findings
    }
}
