internal import Synchronization

/// Where names stand in a list of many, made when first asked for; a list that changes gets a new one.
final class NameIndex: Sendable {
    /// Lists up to this length are searched name by name.
    static let smallCount = 16

    private let positions = Mutex<[String: Int]?>(nil)

    /// For a list of so many names; `nil` where it is short.
    init?(count: Int) { guard count > Self.smallCount else { return nil } }

    /// The first place of a name; `nil` where it is none of `names`.
    func position(of name: String, among names: some Collection<String>) -> Int? {
        positions.withLock { positions in
            let known =
                positions
                ?? Dictionary(
                    names.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { first, _ in first })
            positions = known
            return known[name]
        }
    }
}
