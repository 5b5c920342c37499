import CRelease

/// The program's version, as `--version`, reports and errors show it.
package enum Release {
    package static let version = "0.1.0"

    /// The commit that a released program was built from; `nil` in a development build.
    package static let commit: String? = {
        let commit = unsafe String(cString: shipshape_commit())
        return commit.isEmpty ? nil : commit
    }()

    /// The version and the commit, for a person.
    package static var text: String { commit.map { "\(version) (\($0))" } ?? version }
}
