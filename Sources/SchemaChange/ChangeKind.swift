/// A kind of change with its verdicts: the rows of `semantics.md`, section 6, of the project's reference.
public struct ChangeKind: Hashable, Sendable {
    /// The stable name; several kinds may share one, where only circumstances differ.
    public let code: SchemaChange.Code
    /// Whether the server can apply it in place.
    public let server: SchemaChange.Verdict
    /// Whether clients in the field go on working with it.
    public let client: SchemaChange.Verdict

    private init(_ code: SchemaChange.Code, _ server: SchemaChange.Verdict, _ client: SchemaChange.Verdict) {
        self.code = code
        self.server = server
        self.client = client
    }

    static let typeAdded = Self(.typeAdded, .nonBreaking, .nonBreaking)
    static let typeRemoved = Self(.typeRemoved, .breaking, .nonBreaking)
    static let typeRenamed = Self(.typeRenamed, .breaking, .breaking)
    static let collectionMoved = Self(.collectionMoved, .breaking, .nonBreaking)
    static let requiredAdded = Self(.requiredAdded, .nonBreaking, .nonBreaking)
    static let optionalAdded = Self(.optionalAdded, .nonBreaking, .nonBreaking)
    static let propertyRemoved = Self(.propertyRemoved, .breaking, .nonBreaking)
    static let propertyRenamed = Self(.propertyRenamed, .breaking, .breaking)
    static let propertyTypeChanged = Self(.propertyTypeChanged, .breaking, .breaking)
    /// Between `int` and `long`: to clients both are the same 64-bit integer.
    ///
    /// Of properties alone. Nothing says so of elements or of the primary key, so the severer verdict holds there.
    static let integerWidthChanged = Self(.propertyTypeChanged, .breaking, .nonBreaking)
    static let optionalToRequired = Self(.optionalToRequired, .breaking, .breaking)
    static let requiredToOptional = Self(.requiredToOptional, .breaking, .breaking)
    static let cardinalityChanged = Self(.cardinalityChanged, .breaking, .breaking)
    static let listSetChanged = Self(.listSetChanged, .breaking, .breaking)
    static let elementTypeChanged = Self(.elementTypeChanged, .breaking, .breaking)
    static let elementNullabilityChanged = Self(.elementNullabilityChanged, .breaking, .breaking)
    static let embeddingChanged = Self(.embeddingChanged, .breaking, .breaking)
    static let linkAdded = Self(.linkAdded, .breaking, .breaking)
    static let linkRemoved = Self(.linkRemoved, .breaking, .breaking)
    static let linkRetargeted = Self(.linkRetargeted, .breaking, .breaking)
    static let idTypeChanged = Self(.idTypeChanged, .breaking, .breaking)
    static let defaultAdded = Self(.defaultAdded, .nonBreaking, .nonBreaking)
    static let defaultChanged = Self(.defaultChanged, .nonBreaking, .nonBreaking)
    static let defaultRemoved = Self(.defaultRemoved, .nonBreaking, .nonBreaking)
}
