package import Mongo

/// The server versions that the program was tested on: the table of `docs/reference/servers.md`.
package enum TestedServers {
    /// The versions, oldest first.
    package static let versions = ["4.4.2", "5.0.32", "6.0.5", "6.0.27"]
}

extension BuildInfo {
    /// Whether the program was tested on exactly this version.
    package var isTested: Bool { TestedServers.versions.contains(version) }
}
