internal import LocatedYAML
internal import SchemaChange
internal import ServerSchema
internal import SystemPackage

/// The settings in `shipshape.yml`, which flags and environment variables override.
struct ConfigurationFile: Sendable {
    /// The value of a setting and its position in the file.
    struct Entry: Sendable {
        let text: String
        let location: SourceLocation
    }

    /// A named environment, whose values override the values outside of all environments.
    struct Section: Sendable {
        var values: [String: Entry] = [:]
        /// Whether a command asks for confirmation before it writes to the deployment of the environment.
        var isProtected = false
    }

    /// The file that is read from the working folder if no other is named; parent folders are not searched.
    static let standardName = "shipshape.yml"

    /// The path of the file; `nil` if there is none.
    private(set) var path: String?
    /// The values of the settings by name, without those of the environments.
    private(set) var values: [String: Entry] = [:]
    /// The environments by name.
    private(set) var environments: [String: Section] = [:]
    /// The renames of fields, types and collections between versions of the schema, also between old versions.
    private(set) var renames: [Rename] = []

    /// Creates a configuration without settings.
    init() {}

    /// Reads the file at `path`, or the one that `SHIPSHAPE_CONFIG` names, or `shipshape.yml` if it exists.
    ///
    /// Returns a configuration without settings if no file is named and `shipshape.yml` does not exist.
    /// - Throws: ``LocatedError`` with line and column for anything that does not match the format.
    static func read(at path: String?, variables: [String: String]) throws -> ConfigurationFile {
        if let named = path ?? variables["SHIPSHAPE_CONFIG"] {
            do throws(LocatedError) {
                var file = ConfigurationFile()
                file.path = named
                try file.parse(try YAMLFile.text(at: named), path: named)
                return file
            } catch {
                throw LocatedError(error.message, at: error.location, isConfiguration: true)
            }
        }
        guard (try? FilePath(standardName).stat()) != nil else { return ConfigurationFile() }
        return try read(at: standardName, variables: [:])
    }

    /// Returns the values of an environment by the names of the settings; none without an environment.
    /// - Parameter isOfFlag: whether `--env` names the environment, and not `SHIPSHAPE_ENV`.
    /// - Throws: ``UsageError`` if the file has no environment of that name; ``LocatedError`` if `SHIPSHAPE_ENV` named
    ///   it.
    func section(_ name: String?, isOfFlag: Bool) throws -> [String: Entry] {
        guard let name else { return [:] }
        if let section = environments[name] { return section.values }
        let hint = Spelling.hint(for: name, among: environments.keys.sorted()).map { " (\($0))" } ?? ""
        let what =
            path.map { "\($0) has no environment \"\(name)\"\(hint)" }
            ?? "there is no \(Self.standardName) here, and so no environment \"\(name)\""
        guard isOfFlag else { throw LocatedError("SHIPSHAPE_ENV: \(what)", isConfiguration: true) }
        throw UsageError("--env: \(what)")
    }

    private mutating func parse(_ text: String, path: String) throws(LocatedError) {
        guard let root = try YAMLFile.rootIfAny(of: text, path: path) else { return }
        let names = Setting.all.map(\.name)
        try Self.refusePassword(root)
        let members = try root.members(of: "the configuration", allowed: ["renames", "environments"] + names)
        values = try Self.values(of: members)
        if let renames = members["renames"], !renames.isEmptyList {
            for entry in try renames.elements(of: "\"renames\"") {
                let text = try entry.text(of: "a rename")
                do throws(RenameError) {
                    self.renames.append(try Rename(text, at: entry.location))
                } catch {
                    throw entry.error(error.message)
                }
            }
        }
        guard let all = members["environments"] else { return }
        for (name, node) in try all.entries(of: "\"environments\"") {
            try Self.refusePassword(node)
            let members = try node.members(of: "the environment \"\(name)\"", allowed: ["protected"] + names)
            var section = Section(values: try Self.values(of: members))
            if let protected = members["protected"] { section.isProtected = try protected.flag(of: "\"protected\"") }
            environments[name] = section
        }
    }

    private static func refusePassword(_ node: YAMLNode) throws(LocatedError) {
        guard node.hasMember("password") else { return }
        throw node.error(
            "the configuration must not contain a password: name a file with password-file, or set SHIPSHAPE_PASSWORD")
    }

    private static func values(of members: YAMLMembers) throws(LocatedError) -> [String: Entry] {
        var values: [String: Entry] = [:]
        for setting in Setting.all {
            guard let node = members[setting.name] else { continue }
            let text = try node.text(of: "\"\(setting.name)\"")
            switch setting.kind {
            case .text: break
            case .count: _ = try node.integer(of: "\"\(setting.name)\"", atLeast: 1)
            case .flag: _ = try node.flag(of: "\"\(setting.name)\"")
            }
            values[setting.name] = Entry(text: text, location: node.location)
        }
        return values
    }
}

extension YAMLNode {
    /// Reads the value `true` or `false`.
    fileprivate func flag(of what: String) throws(LocatedError) -> Bool {
        switch try text(of: what) {
        case "true": return true
        case "false": return false
        default: throw error("\(what) must be true or false")
        }
    }
}
