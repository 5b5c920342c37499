public import ServerSchema

/// What the app's export says of sync, as far as it decides what a deploy does.
public struct SyncCircumstances: Hashable, Sendable {
    /// Whether sync runs; `nil` where no export says it.
    public var state: SyncConfiguration.State?
    /// When it was paused, as seconds since 1970.
    public var pausedAt: Int?
    /// Whether clients may change the schemas, by breaking changes too.
    public var isInDevelopment: Bool

    /// What is known of the app: of the schema that is live, else of the new one.
    public init(active: SyncConfiguration?, new: SyncConfiguration?) {
        let known = active ?? new
        state = known?.state
        pausedAt = known?.pausedAt
        isInDevelopment = known?.isInDevelopment ?? false
    }
}
