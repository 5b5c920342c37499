/// What a check assumes about the app.
public struct CheckOptions: Hashable, Sendable {
    /// Whether a `mixed` value may be an array or an object: true of apps created since 2024-05-28.
    public var allowsMixedCollections = true

    /// The defaults.
    public init() {}
}
