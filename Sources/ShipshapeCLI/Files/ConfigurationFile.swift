internal import Check
internal import Checking
internal import Files
internal import Jobs
internal import LocatedYAML
internal import SchemaChange
internal import ServerSchema
internal import SystemPackage

/// The settings in `shipshape.yml`, which flags and environment variables override.
struct ConfigurationFile: Sendable {
    /// The value of a setting and its position in the file.
    struct Entry: Sendable {
        /// The value; empty if the file names an environment variable that is not set.
        let text: String
        let location: SourceLocation
        /// The environment variable that holds the value; `nil` if the file itself has it.
        var variable: String?
    }

    /// A named environment, whose values override the file's top-level values.
    struct Section: Sendable {
        var values: [String: Entry] = [:]
        /// Whether a command asks for confirmation before it writes to the deployment of the environment.
        var isProtected = false
    }

    /// The file that is read from the working folder if no other is named; parent folders are not searched.
    static let standardName = "shipshape.yml"

    private(set) var path: String?
    /// The file's top-level values, by the name of the setting.
    private(set) var values: [String: Entry] = [:]
    private(set) var environments: [String: Section] = [:]
    /// The schema that `check`, `lint` and `doctor` read if the command line names none; `nil` if the file names none
    /// either.
    private(set) var schema: String?
    /// The renames of fields, types and collections between versions of the schema, also between old versions.
    private(set) var renames: [Rename] = []
    /// The fields that versions of the schema removed for good, as `DATABASE.COLLECTION.PATH`.
    private(set) var removed: [String] = []

    /// The thresholds for failing documents, each for one collection or for one rule in a collection.
    private(set) var thresholds: [FailingThreshold] = []

    /// The unique indexes of collections with a validator.
    private(set) var unique = UniqueKeysSetting()

    /// The commands to run at events of a run, by the name of the event, as `--on` takes them.
    private(set) var hooks: [String: String] = [:]

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
                try file.parse(try YAMLFile.text(at: named), path: named, variables)
                return file
            } catch {
                throw LocatedError(error.message, at: error.location, isConfiguration: true)
            }
        }
        guard (try? FilePath(standardName).stat()) != nil else { return ConfigurationFile() }
        return try read(at: standardName, variables: variables)
    }

    /// Returns the values of an environment by the names of the settings; empty if `name` is `nil`.
    /// - Parameter isOfFlag: whether the name comes from `--env`; otherwise, it comes from `SHIPSHAPE_ENV`.
    /// - Throws: an error if the file has no environment of that name: ``UsageError`` if the name comes from `--env`,
    ///   ``LocatedError`` if it comes from `SHIPSHAPE_ENV`.
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

    private mutating func parse(
        _ text: String, path: String, _ variables: [String: String]
    ) throws(LocatedError) {
        guard let root = try YAMLFile.rootIfAny(of: text, path: path) else { return }
        let names = Known.all.map(\.name)
        let ofFile = ["schema", "thresholds", "renames", "removed", "unique", "on", "environments"]
        let members = try Self.members(root, "the configuration", names + ofFile, elsewhere: Self.places(of: []))
        values = try Self.values(of: members, variables)
        schema = try members["schema"]?.text(of: "\"schema\"")
        renames = try members["renames"].map(Rename.list) ?? []
        if let list = members["removed"], !list.isEmptyList {
            removed = try list.elements(of: "\"removed\"").map { entry throws(LocatedError) in
                try entry.text(of: "a removed field")
            }
        }
        if let list = members["thresholds"], !list.isEmptyList {
            thresholds = try list.elements(of: "\"thresholds\"").map(Self.threshold)
        }
        if let node = members["unique"] { unique = try UniqueKeysSetting(node) }
        if let node = members["on"] {
            let events = Hook.allCases.map(\.rawValue)
            let entries = try Self.members(node, "\"on\"", events, elsewhere: Self.places(of: names + ofFile))
            for (event, command) in entries.members { hooks[event] = try command.text(of: "\"\(event)\"") }
        }
        guard let all = members["environments"] else { return }
        for (name, node) in try all.entries(of: "\"environments\"") {
            let members = try Self.members(
                node, "the environment \"\(name)\"", ["protected"] + names, elsewhere: Self.places(of: ofFile))
            var section = Section(values: try Self.values(of: members, variables))
            if let protected = members["protected"] { section.isProtected = try protected.flag(of: "\"protected\"") }
            environments[name] = section
        }
    }

    /// Returns the members of a mapping.
    /// - Parameter elsewhere: the right places of keys that belong elsewhere, as phrases.
    /// - Throws: ``LocatedError`` at a password, at a key that belongs elsewhere, and at an unknown key.
    private static func members(
        _ node: YAMLNode, _ what: String, _ allowed: [String], elsewhere: [String: String]
    ) throws(LocatedError) -> YAMLMembers {
        try refusePassword(node)
        let misplaced = elsewhere.keys.sorted().first { !allowed.contains($0) && node.hasMember($0) }
        if let misplaced, let place = elsewhere[misplaced] {
            throw node.key(misplaced).error("\"\(misplaced)\" does not belong in \(what): write it \(place)")
        }
        return try node.members(of: what, allowed: allowed)
    }

    /// Returns the right place of each key that belongs in only one place.
    /// - Parameter topLevel: the keys that belong at the top level only.
    private static func places(of topLevel: [String]) -> [String: String] {
        let events = Hook.allCases.map { ($0.rawValue, "below \"on\", at the top level of the file") }
        let others = [
            ("protected", "into a section below \"environments\""), ("rule", "into an entry of \"thresholds\""),
            ("collection", "into an entry of \"thresholds\""),
        ]
        let top = topLevel.map { ($0, "at the top level of the file") }
        return Dictionary(events + others + top) { first, _ in first }
    }

    private static func threshold(_ node: YAMLNode) throws(LocatedError) -> FailingThreshold {
        let members = try node.members(of: "a threshold", allowed: ["collection", "rule", "max-failing"])
        let limit = try members.required("max-failing")
        guard let most = FailingLimit(try limit.text(of: "\"max-failing\"")) else {
            throw limit.error("\"max-failing\" must be a number of documents, or a share such as 0.1%")
        }
        return FailingThreshold(
            namespace: try ExceptionsFile.collection(members), rule: try members["rule"].map(ExceptionsFile.rule),
            limit: most, location: node.location)
    }

    private static func refusePassword(_ node: YAMLNode) throws(LocatedError) {
        guard node.hasMember("password") else { return }
        throw node.error(
            "the configuration must not contain a password: name a file with password-file, or set SHIPSHAPE_PASSWORD")
    }

    private static func values(
        of members: YAMLMembers, _ variables: [String: String]
    ) throws(LocatedError) -> [String: Entry] {
        var values: [String: Entry] = [:]
        for setting in Known.all {
            guard let node = members[setting.name] else { continue }
            let text = try node.text(of: "\"\(setting.name)\"")
            values[setting.name] = Entry(text: text, location: node.location)
            guard setting.isSecret, let variable = try variable(in: text, node) else { continue }
            values[setting.name] = Entry(text: variables[variable] ?? "", location: node.location, variable: variable)
        }
        return values
    }

    /// Returns the name of the variable in a value such as `${MONGODB_URI}`; `nil` for a value that names none.
    private static func variable(in text: String, _ node: YAMLNode) throws(LocatedError) -> String? {
        guard text.hasPrefix("${") else { return nil }
        guard let match = text.wholeMatch(of: /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/) else {
            throw node.error("a variable must be the whole value, such as ${MONGODB_URI}")
        }
        return String(match.1)
    }
}

extension YAMLNode {
    fileprivate func flag(of what: String) throws(LocatedError) -> Bool {
        switch try text(of: what) {
        case "true": return true
        case "false": return false
        default: throw error("\(what) must be true or false")
        }
    }
}
