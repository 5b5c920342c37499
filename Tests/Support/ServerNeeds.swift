package import Mongo
package import Testing

extension Mongod {
    /// The build information of the server that all tests share.
    package static var build: BuildInfo { get async throws { try await sharedBuild.value } }
}

private let sharedBuild = AsyncOnce<BuildInfo> {
    try await Mongod.shared.sharedPool().withClient { client throws(MongoError) in try client.buildInfo() }
}

extension Trait where Self == ConditionTrait {
    /// Runs a test only on servers of this version or later, which have a feature that the test needs.
    ///
    /// Do not use this trait for a test that fails on an older server because the program does not expect how that
    /// server behaves. Such a failure is a bug of the program, or belongs in the documentation's page on servers.
    /// - Parameter missing: the feature that the test needs and older servers lack.
    package static func server(
        from major: Int, _ minor: Int = 0, for missing: String,
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
    ) -> Self {
        // The macro for a source location can be used only in test targets, so the parameters state the parts of the
        // location.
        let place = SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
        return .enabled("MongoDB \(major).\(minor) or later: \(missing)", sourceLocation: place) {
            try await Mongod.build.isAtLeast(major, minor)
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// Runs a test only on servers where the filter of a delete can contain a fence: a condition that holds only
    /// while the lease lasts.
    package static var fencedDeletes: Self {
        .server(from: 5, for: "$$NOW in a delete, without which watch, partner mirror and extract are refused")
    }
}
