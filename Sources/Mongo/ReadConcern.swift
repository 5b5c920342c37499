package import BSON

/// The data that a read may see.
///
/// The server defines the levels, so a level may have a name that is not listed here.
package struct ReadConcern: RawRepresentable, Hashable, Sendable {
    /// The server's name of the level.
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }

    /// A read returns the member's current data.
    package static let local = ReadConcern(rawValue: "local")
    /// A read returns only data that no failover can undo.
    package static let majority = ReadConcern(rawValue: "majority")
    /// A read returns only data that no failover can undo, and the primary confirms the data at the time of the read.
    package static let linearizable = ReadConcern(rawValue: "linearizable")
    /// A read returns the data of one point in time.
    package static let snapshot = ReadConcern(rawValue: "snapshot")
    /// A read returns the member's current data, including orphaned documents of a sharded cluster.
    package static let available = ReadConcern(rawValue: "available")

    /// All levels that the constants name.
    static let all: [ReadConcern] = [.local, .majority, .linearizable, .snapshot, .available]

    package var document: BSONDocument { ["level": .string(rawValue)] }
}
