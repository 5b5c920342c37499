package import Mongo
package import Testing

extension Mongod {
    /// What the server of the tests was built of.
    package static var build: BuildInfo { get async throws { try await sharedBuild.value } }
}

private let sharedBuild = AsyncOnce<BuildInfo> {
    try await Mongod.shared.sharedPool().withClient { client throws(MongoError) in try client.buildInfo() }
}

extension Trait where Self == ConditionTrait {
    /// Runs a test only on servers that have what it asks for: that version, and later ones.
    ///
    /// Never for what a server does otherwise than the program expects: that is a fault, or belongs on the page of servers.
    /// - Parameter missing: what older servers lack, and the test cannot do without.
    package static func server(
        from major: Int, _ minor: Int = 0, for missing: String,
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
    ) -> Self {
        // The macro for it is known to targets of tests alone.
        let place = SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
        return .enabled("MongoDB \(major).\(minor) or later: \(missing)", sourceLocation: place) {
            try await Mongod.build.isAtLeast(major, minor)
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// Runs a test only on servers on which something may be taken away under a lease.
    package static var fencedDeletes: Self {
        .server(from: 5, for: "$$NOW in a delete, without which watch, partner mirror and extract are refused")
    }
}
