package import BSON

/// A write concern, which defines when the server acknowledges a write.
package struct WriteConcern: Hashable, Sendable {
    /// The members that must have the write.
    package enum Acknowledgement: Hashable, Sendable {
        /// A majority of the voting members.
        case majority
        /// The given number of members, at least 1.
        case members(Int)
        /// The members that a custom mode in the replica set's settings names.
        case mode(String)
    }

    /// The members that must have a write before the server acknowledges it.
    package var acknowledgement: Acknowledgement
    /// Whether the members that must have the write must also have it in their journals; `nil` for the server's
    /// default.
    package var isJournaled: Bool?
    /// The time to wait for the members; `nil` for no limit.
    package var timeout: Duration?

    package init(_ acknowledgement: Acknowledgement, isJournaled: Bool? = nil, timeout: Duration? = nil) {
        self.acknowledgement = acknowledgement
        self.isJournaled = isJournaled
        self.timeout = timeout
    }

    /// The server acknowledges a write when a majority of the voting members has it.
    package static let majority = WriteConcern(.majority)

    package var document: BSONDocument {
        var builder = BSONBuilder()
        switch acknowledgement {
        case .majority: builder.append("w", "majority")
        case .members(let count): builder.append("w", .integer(count))
        case .mode(let name): builder.append("w", .string(name))
        }
        if let isJournaled { builder.append("j", .bool(isJournaled)) }
        if let timeout { builder.append("wtimeout", .int(timeout.driverMilliseconds)) }
        return builder.finish()
    }
}

extension Duration {
    /// The duration in whole milliseconds for the driver; at least 1, because 0 means no limit to the driver.
    var driverMilliseconds: Int32 {
        let parts = components
        return max(1, Int32(clamping: parts.seconds * 1_000 + parts.attoseconds / 1_000_000_000_000_000))
    }
}
