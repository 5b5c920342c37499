package import ServerSchema

extension SchemaNode {
    /// Whether the schema is that of a point: a required string `type` and an array of double `coordinates`, no more.
    package var isGeoPoint: Bool {
        guard types == [.object], properties.count == 2, required.contains("type"),
            let type = properties.first(where: { $0.name == "type" })?.node, type.types == [.string],
            let coordinates = properties.first(where: { $0.name == "coordinates" })?.node,
            coordinates.types == [.array], case .each(let element) = coordinates.items
        else { return false }
        return element.types == [.double]
    }
}
