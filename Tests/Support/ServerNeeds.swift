package import Mongo
package import Testing

extension Mongod {
    /// The build information of the server that the tests share.
    package static var build: BuildInfo { get async throws { try await sharedBuild.value } }
}

private let sharedBuild = AsyncOnce<BuildInfo> {
    try await Mongod.shared.sharedPool().withClient { client throws(MongoError) in try client.buildInfo() }
}

extension Trait where Self == ConditionTrait {
    /// Runs a test only on servers of this version or later, which have a feature that the test needs.
    ///
    /// Do not use it for a server that behaves differently from what the program expects. That is a bug of the program,
    /// or belongs in the documentation's page on servers.
    /// - Parameter missing: the feature that older servers lack and the test needs.
    package static func server(
        from major: Int, _ minor: Int = 0, for missing: String,
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
    ) -> Self {
        // The macro for a source location is available only in test targets.
        let place = SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
        return .enabled("MongoDB \(major).\(minor) or later: \(missing)", sourceLocation: place) {
            try await Mongod.build.isAtLeast(major, minor)
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// Runs a test only on servers where a delete can carry the fence of a lease.
    package static var fencedDeletes: Self {
        .server(from: 5, for: "$$NOW in a delete, without which watch, partner mirror and extract are refused")
    }
}
