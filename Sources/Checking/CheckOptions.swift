/// What a check assumes about the app.
public struct CheckOptions: Hashable, Sendable {
    /// Whether a `mixed` value may be an array or an object: true of apps created since 2024-05-28.
    public var allowsMixedCollections = true
    /// Whether null in an optional field is a possible failure, as data-access validation has it while the app's
    /// null-type switch is off.
    ///
    /// Sync itself accepts such a null. Source: `semantics.md`, sections 2.5 and 5.3 of the project's reference.
    public var refusesNulls = false
    /// Whether the documents of collections that clients only write to count in the verdict.
    public var countsAsymmetric = false

    /// The defaults.
    public init() {}
}
