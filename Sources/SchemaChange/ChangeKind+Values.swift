/// What a property's values are.
extension ChangeKind {
    private static let row = Source.quickReference("Change property type but keep the name")
    private static let asType = Source.inferred(
        "as a change of type; clients compare element types and collections, too")
    private static let remedy =
        "Or keep the property, and add one of the new type with converted copies: that is additive."

    private static func type(
        _ code: SchemaChange.Code, client: SchemaChange.Verdict = .breaking, _ source: Source, do advice: String
    ) -> Self {
        Self(
            code, server: .breaking, client: client, then: [.terminate, .clientReset, .unsyncedDocuments], source,
            do: advice)
    }

    static let propertyTypeChanged = type(
        .propertyTypeChanged, row,
        do: "Terminate sync, convert the documents, re-enable it with the new schema; or write a partner collection. "
            + remedy)
    /// From a narrower type of numbers to `double` or `decimal`.
    static let numberWidened = type(
        .propertyTypeChanged, row,
        do: "No exemption is known for wider numbers: terminate sync, convert the documents and re-enable it. " + remedy
    )
    /// Between `int` and `long`: to clients both are the same 64-bit integer.
    ///
    /// Of properties alone. Nothing says so of elements or of the primary key, so the severer verdict holds there.
    static let integerWidthChanged = type(
        .propertyTypeChanged, client: .nonBreaking,
        Source(
            basis: .partly, text: "App Services: Update Your Schema; that clients hold both as 64 bits is inferred",
            quickReference: "Change property type but keep the name"),
        do: "Leave the type: clients hold both as the same 64-bit integer, and the server takes either for them.")
    static let cardinalityChanged = type(
        .cardinalityChanged, asType,
        do: "Terminate sync, wrap the single values or unwrap the collections of one, and re-enable it. " + remedy)
    static let listSetChanged = type(
        .listSetChanged, asType,
        do: "Terminate sync, remove the duplicates where it becomes a set, and re-enable it. " + remedy)
    static let elementTypeChanged = type(
        .elementTypeChanged, asType,
        do: "Terminate sync, convert each element or value, and re-enable it. " + remedy)
    static let elementNullabilityChanged = type(
        .elementNullabilityChanged, .inferred("as a change between optional and required"),
        do: "Terminate sync, drop or fill the nulls where they are refused now, and re-enable it.")
    static let embeddingChanged = type(
        .embeddingChanged, .inferred("clients hold embedded objects and links in tables of two kinds"),
        do:
            "Write a partner collection. A client can migrate alone only where each object has exactly one parent: count "
            + "those with none and with several first.")
    static let linkAdded = link(.linkAdded, "the values must be keys of the linked documents, or null")
    static let linkRemoved = link(.linkRemoved, "the keys stay as plain values")
    static let linkRetargeted = link(.linkRetargeted, "the values must be keys of the newly linked documents, or null")

    private static func link(_ code: SchemaChange.Code, _ demand: String) -> Self {
        type(
            code, .inferred("as a change of type: a link is another type than the key that it holds"),
            do: "Terminate and re-enable sync with the new schema, or write a partner collection; \(demand).")
    }

    static let idRemoved = Self(
        .idRemoved, server: .breaking, client: .breaking, then: [.terminate, .clientReset, .unsyncedDocuments],
        .documented("App Services: Data Model"),
        do: "Do not deploy it: sync takes no type whose primary key has another name than _id. Keep _id.")
    static let idTypeChanged = Self(
        .idTypeChanged, server: .breaking, client: .breaking, then: [.terminate, .clientReset, .unsyncedDocuments],
        .documented("App Services: Partner Collections; the older pages on migrations"),
        do:
            "An _id cannot be changed in place: write a partner collection whose documents have new _ids, and map every "
            + "link to them.")
}
