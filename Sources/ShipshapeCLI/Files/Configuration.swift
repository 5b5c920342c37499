internal import Foundation
internal import LocatedYAML
internal import SchemaChange
internal import SystemPackage

/// What the operator keeps in `shipshape.yml`: flags and environment variables beat it.
struct Configuration {
    /// The file that is read when it is there and no other is named.
    static let standardName = "shipshape.yml"
    private static let keys = ["renames"]

    /// The renames between versions of the schema, old ones included.
    var renames: [Rename] = []

    /// Reads a file; without one `SHIPSHAPE_CONFIG`, or `shipshape.yml` where there is one.
    /// - Throws: ``LocatedError`` with line and column for whatever is not as the format says; ``UsageError`` for a file
    ///   that is named and not there.
    static func read(at path: String?) throws -> Configuration {
        let variable = ProcessInfo.processInfo.environment["SHIPSHAPE_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
        if let named = path ?? variable {
            do throws(LocatedError) { return try parse(try YAMLFile.text(at: named), path: named) } catch {
                throw LocatedError(error.message, at: error.location, isConfiguration: true)
            }
        }
        guard (try? FilePath(standardName).stat()) != nil else { return Configuration() }
        return try read(at: standardName)
    }

    private static func parse(_ text: String, path: String) throws(LocatedError) -> Configuration {
        var configuration = Configuration()
        guard let root = try YAMLFile.rootIfAny(of: text, path: path) else { return configuration }
        let members = try root.members(of: "the configuration", allowed: keys)
        if let renames = members["renames"], !renames.isEmptyList {
            for entry in try renames.elements(of: "\"renames\"") {
                let text = try entry.text(of: "a rename")
                do throws(RenameError) {
                    configuration.renames.append(try Rename(text, at: entry.location))
                } catch {
                    throw entry.error(error.message)
                }
            }
        }
        return configuration
    }
}
