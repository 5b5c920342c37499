internal import ArgumentParser
internal import BSON
internal import ClientModels
internal import Files
internal import Reporting
internal import ServerSchema
internal import SystemPackage

struct ModelsCommand: ConnectedCommand {
    static let configuration = CommandConfiguration(
        "schema models", "<schema> --language <language>",
        abstract: "Writes client classes for a schema: Swift, Kotlin, TypeScript, C# or Dart.",
        examples: [
            "schema models schemas/v2 --language swift --out Sources/Models",
            "schema models schemas/v2 --language kotlin",
        ],
        details: """
            SCHEMA is an App Services app folder, one schema.json, a folder of them, a MongoDB validator file, or \
            live. Each type has a file of its own, for the Realm SDK of the language: collections and the objects \
            embedded in them, with optional fields, primary keys, links, lists, sets and dictionaries. A name that the \
            language does not allow is changed, and mapped to the name in the schema.

            What a client cannot have, such as a field of several types, is left out of its class; a comment there and \
            a note say so. Without --out, the files go to standard output. No document is read.
            """)

    @Argument(help: "The schema: a file, a folder, or live.")
    var schema: SchemaArgument

    @Option(
        help: ArgumentHelp(
            "The language of the classes.", valueName: ModelLanguage.allCases.map(\.rawValue).joined(separator: "|")))
    var language: ModelLanguage

    @Option(
        help: ArgumentHelp("The folder for the classes; it is created if needed.", valueName: "folder"),
        completion: .directory)
    var out: String?

    @Flag(help: "Replace existing files.")
    var force = false

    @Option(
        help: ArgumentHelp(
            "The collection that a single schema.json describes; with a folder, the only one to write.",
            valueName: "db.collection"),
        completion: .collections)
    var collection: String?

    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    func validate() throws {
        if let collection, Namespace(collection) == nil {
            throw ValidationError("--collection: \"\(collection)\" is not DATABASE.COLLECTION")
        }
        if force, out == nil { throw ValidationError("--force needs --out") }
    }

    func work() throws -> Work {
        Work("schema models", output: output, reads: [schema.name]) { _ in
            let serverSchema = try await schema.read(
                namespace: collection.flatMap { Namespace($0) }, connection: connection)
            let classes = try ObjectClasses(of: serverSchema)
            let files = language.files(of: classes)
            if let out {
                try NewFiles(files.map { (FilePath(out).appending($0.name).string, $0.text) }).write(replacing: force)
            }
            let result = ModelsResult(language, in: out, files: files, notes: serverSchema.notes + classes.notes)
            var outcome = CommandOutcome.result(result)
            if out == nil, output.output == .text {
                if !output.quiet { for note in result.notes { Console.error("Note: \(note)") } }
                outcome.text = files.map(\.text).joined(separator: "\n")
            }
            return outcome
        }
    }
}

extension ModelLanguage: ExpressibleByArgument {}
