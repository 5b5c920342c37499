internal import ArgumentParser
internal import Foundation

/// The flags for a second user, who runs `collMod`, the only command by which `enforce` changes the collection.
struct CollModFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The user that sets the validator, if it is not the user that reads the documents.",
            discussion: "This user needs collMod on the collection, and nothing else.", valueName: "name"))
    var collmodUsername: String?

    @Option(
        help: ArgumentHelp(
            "A file whose first line is that user's password; default: SHIPSHAPE_COLLMOD_PASSWORD.",
            valueName: "file"), completion: .file())
    var collmodPasswordFile: String?

    func validate() throws {
        if collmodPasswordFile != nil, collmodUsername == nil {
            throw ValidationError("--collmod-password-file needs --collmod-username")
        }
    }

    /// Returns the name and the password of the user that runs `collMod`; `nil` if one user runs all commands.
    /// - Throws: ``PasswordFileError``; ``UsageError`` if there is no password.
    func user() throws -> (name: String, password: String)? {
        guard let collmodUsername else { return nil }
        if let collmodPasswordFile {
            return (collmodUsername, try PasswordFile.read(collmodPasswordFile, for: "--collmod-password-file"))
        }
        guard let password = ProcessInfo.processInfo.environment["SHIPSHAPE_COLLMOD_PASSWORD"], !password.isEmpty else {
            throw UsageError(
                "the user \(collmodUsername) has no password: give --collmod-password-file, or set "
                    + "SHIPSHAPE_COLLMOD_PASSWORD")
        }
        return (collmodUsername, password)
    }
}
