import CRelease

/// The program's version, as `--version`, reports and errors tell it.
package enum Release {
    package static let version = "0.1.0"

    /// The commit that a released program was built from; `nil` of a build for development.
    package static let commit: String? = {
        let commit = unsafe String(cString: shipshape_commit())
        return commit.isEmpty ? nil : commit
    }()

    /// Both, for a person.
    package static var text: String { commit.map { "\(version) (\($0))" } ?? version }
}
