internal import ArgumentParser
internal import BSON
internal import Files
internal import Foundation
internal import Scanning
internal import ServerSchema
internal import SystemPackage

extension CIService: ExpressibleByArgument {}

struct InitCommand: OfflineCommand {
    static let configuration = CommandConfiguration(
        "init",
        abstract: "Writes the first files of a project: shipshape.yml, jobs, exceptions and a CI workflow.",
        examples: [
            "init",
            "init --uri MONGODB_URI --schema schemas/v2 --ci github",
        ],
        details: """
            Asks at a terminal for what no flag gives. The connection string comes from an environment variable, or is \
            written without a password. The schema is looked for in the folders below this one; the dialect is that of \
            the schema. No deployment is asked, and no file is replaced without --force: if one exists, nothing is \
            written.
            """)

    @Option(
        help: ArgumentHelp(
            "The variable that holds the connection string, or the connection string without a password; default: "
                + "the variable that a schema.prisma names, else SHIPSHAPE_URI.", valueName: "variable|mongodb://…"))
    var uri: String?

    @Option(
        help: ArgumentHelp(
            "The schema that check and lint read: a file, a folder, live, or none if there is none yet; default: the "
                + "only folder with schemas.", valueName: "schema"), completion: .file())
    var schema: String?

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "The dialect, if no schema shows it: appservices, jsonschema for MongoDB validators, or prisma.",
            valueName: "appservices|jsonschema|prisma"))
    var dialect: InferCommand.DialectArgument?

    @Option(help: ArgumentHelp("Also write a workflow for pull requests.", valueName: "github|gitlab"))
    var ci: CIService?

    @Flag(help: "Replace existing files.")
    var force = false

    func work() throws -> Work {
        Work { _ in
            let likely = schema ?? SchemaSearch.folders(below: ".").last
            let place = try deployment(orElse: likely.flatMap { try? Self.read($0) }?.prisma?.variable)
            let schema = try schemaName()
            let read = schema.flatMap { $0 == LiveSchema.name ? nil : try? ServerSchema.read(at: $0) }
            let dialect = try dialect(of: schema)
            if ci != nil, schema == nil || schema == LiveSchema.name {
                throw UsageError("--ci needs a schema in the repository: name its file or folder with --schema")
            }
            if let ci, let schema, let defect = ci.defect(ofPath: schema) { throw UsageError("--ci: \(defect)") }
            let project = NewProject(
                deployment: place, schema: schema, dialect: dialect,
                database: dialect == .prisma ? read?.collections.first?.namespace.database : nil)
            let files = project.files + (ci.map { $0.files(schemas: schema ?? "") } ?? [])
            try NewFiles(files).write(replacing: force, in: ".")
            let isUnknown = project.dialect == .prisma && project.database == nil
            let notes = [
                ci?.note,
                isUnknown
                    ? "write database: NAME into \(ConfigurationFile.standardName): the schema names no database" : nil,
            ]
            var outcome = CommandOutcome.text(
                (files.map { "wrote \($0.0)" } + ["", "Next:"] + project.nextCommands.map { "  \($0)" })
                    .joined(separator: "\n"))
            outcome.after = { for note in notes.compactMap(\.self) { Console.error("Note: \(note)") } }
            return outcome
        }
    }

    // MARK: answers

    /// Returns the source of the connection string: an environment variable, or the configuration file itself.
    /// - Parameter variable: the variable that the schema names for the connection string; `nil` if it names none.
    private func deployment(orElse variable: String?) throws -> NewProject.Deployment {
        let fallback = variable ?? "SHIPSHAPE_URI"
        if uri == nil, Console.canAsk {
            let answer = try Console.ask(
                "The connection string without a password, or the variable that holds it", default: fallback
            ) { NewProject.Deployment.defect(of: $0) }
            return NewProject.Deployment(answer)
        }
        let given = uri ?? fallback
        if let defect = NewProject.Deployment.defect(of: given) { throw UsageError("--uri: \(defect)") }
        return NewProject.Deployment(given)
    }

    /// Returns the path of the schema, or `live`; `nil` if there is none yet.
    private func schemaName() throws -> String? {
        let found = schema == nil ? SchemaSearch.folders(below: ".") : []
        if schema == nil, Console.canAsk {
            if found.count > 1 { Console.error("Folders with schemas: \(found.joined(separator: ", "))") }
            let answer = try Console.ask(
                "The schema to check: a path, live (the collections' validators), or none",
                default: found.last ?? "none"
            ) { Self.defect(ofSchema: $0) }
            return answer == "none" ? nil : answer
        }
        if found.count > 1 {
            throw UsageError(
                "without a terminal, init needs --schema: there are schemas in \(found.joined(separator: ", "))")
        }
        guard let name = schema ?? found.first, name != "none" else { return nil }
        if let defect = Self.defect(ofSchema: name) { throw UsageError("--schema: \(defect)") }
        return name
    }

    private static func defect(ofSchema name: String) -> String? {
        guard name != LiveSchema.name, name != "none" else { return nil }
        guard !FilePath(name).isAbsolute else {
            return "name \(name) relative to this folder, because others have it elsewhere"
        }
        do throws(SchemaError) { _ = try read(name) } catch {
            let isFolder = (try? FilePath(name).stat().type) == .directory
            guard error.code == .namespaceUnknown, !isFolder else { return "\(error)" }
            return "\(name) does not say which collection it describes: name it DATABASE.COLLECTION.json, and give its "
                + "folder"
        }
        return nil
    }

    /// Reads a schema, to see whether it is valid and which dialect it has.
    ///
    /// The name of a Prisma schema's database affects neither of the two, so a placeholder is passed.
    private static func read(_ name: String) throws(SchemaError) -> ServerSchema {
        try ServerSchema.read(at: name, database: "database")
    }

    /// Returns the dialect of the schema.
    ///
    /// If there is no schema that can be read, returns the dialect of `--as`. Without this flag, returns the
    /// user's answer or, if there is no terminal, App Services.
    /// - Throws: ``UsageError`` if `--as` names another dialect than the schema has.
    private func dialect(of schema: String?) throws -> Dialect {
        let shown = schema.flatMap { $0 == LiveSchema.name ? .jsonSchema : (try? Self.read($0))?.dialect }
        let stated = dialect?.dialect
        if let shown, let stated, shown != stated {
            throw UsageError("--as: the schema \(schema ?? "") is of the dialect \(shown.rawValue)")
        }
        if let known = shown ?? stated { return known }
        guard Console.canAsk else { return .appServices }
        let names = InferCommand.DialectArgument.allCases.map(\.rawValue)
        let choice = names.joined(separator: ", ")
        let answer = try Console.ask("The dialect: \(choice)", default: names[0]) { answer in
            names.contains(answer) ? nil : "it must be one of \(choice)"
        }
        return InferCommand.DialectArgument(rawValue: answer)?.dialect ?? .appServices
    }
}
