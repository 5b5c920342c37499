internal import ArgumentParser
internal import BSON
internal import Files
internal import Importing
internal import Reporting
internal import ServerSchema
internal import SystemPackage

struct ImportCommand: OfflineCommand {
    static let configuration = CommandConfiguration(
        "schema import", "<file>",
        abstract: "Makes a MongoDB validator from a JSON Schema, an OpenAPI document or a Prisma schema.",
        examples: [
            "schema import user.schema.json --out validators/user.json",
            "schema import api.yml --schema User --collection app.users --out v1",
            "schema import contract.prisma --schema User --writes closed",
        ],
        details: """
            FILE is a JSON Schema (draft 2020-12 or 7) as Pydantic, Beanie, Zod or TypeBox write it, an OpenAPI \
            document in JSON or YAML, a Prisma schema (a file or a folder), whose validator accepts what the client \
            reads, or a contract of Prisma 8, whose validator is Prisma's own. With --writes, a validator accepts what \
            the client writes. The result is a validator, {"$jsonSchema": …}, which check, diff and lint take as \
            SCHEMA. References are written out. Each choice of a BSON type, and each part of the schema that a \
            validator cannot express, has a note; read them before you use the validator. No server is asked.

            The validator goes to standard output and the notes to standard error. With --out, the validator goes to \
            a file, or into a folder as DB.COLL.json, and the notes to standard output.
            """)

    @Argument(
        help: "The file with the schema, in JSON, YAML (.yml, .yaml) or Prisma's form (.prisma).", completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp(
            "The schema to import, if there are several: a name in components.schemas or $defs, or a model.",
            valueName: "name"))
    var schema: String?

    @Option(
        help: ArgumentHelp("The collection that the validator is meant for.", valueName: "db.collection"))
    var collection: String?

    @Option(
        help: ArgumentHelp(
            "Write the validator to a file (ending .json) or into a folder; - for standard output.",
            valueName: "path"), completion: .file())
    var out: String?

    @Flag(help: "Let --out replace an existing file.")
    var force = false

    @Flag(
        help: ArgumentHelp(
            "Strings stay strings, also dates, UUIDs and ObjectIds: for Zod and TypeBox, whose values are strings."))
    var keepStrings = false

    @Option(
        help: ArgumentHelp(
            "For Prisma: accept what the client writes, with any other fields (open) or without (closed).",
            valueName: "open|closed"))
    var writes: ImportedSchema.Writes?

    @OptionGroup(title: "Output") var output: OutputFlags

    func validate() throws {
        if let collection, Namespace(collection) == nil {
            throw ValidationError("--collection: \"\(collection)\" is not DATABASE.COLLECTION")
        }
        if force, target.path == nil { throw ValidationError("--force needs --out") }
    }

    func work() throws -> Work {
        Work("schema import", output: output, reads: [file]) { _ in
            let namespace = collection.flatMap { Namespace($0) }
            try target.prepare(for: [namespace])
            let imported = try imported(for: namespace)
            let text = SchemaFileText(imported.validator).text
            try target.write([(namespace, text)])
            let path = target.path == nil ? nil : try target.file(of: namespace)
            let result = ImportResult(imported, from: file, for: namespace, in: path, keepsStrings: keepStrings)
            var outcome = CommandOutcome.result(result)
            if target.path == nil, output.output == .text {
                outcome.showNextToText(result, text, isQuiet: output.quiet)
            }
            return outcome
        }
    }

    private func imported(for namespace: Namespace?) throws(SchemaError) -> ImportedSchema {
        let isPrisma = [".prisma", "contract.json", "ops.json"].contains { file.hasSuffix($0) }
        guard isPrisma || (try? FilePath(file).stat().type) == .directory else {
            if writes != nil {
                throw SchemaError(.unsupported, at: SourceLocation(whole: file), "--writes is for Prisma")
            }
            return try ImportedSchema(fileAt: file, schema: schema, keepsStrings: keepStrings)
        }
        return try ImportedSchema(prismaAt: file, model: schema ?? namespace?.collection, writes: writes)
    }

    private var target: SchemaTarget {
        SchemaTarget(
            path: out == "-" ? nil : out, mayReplace: force, dialect: .jsonSchema,
            isInReport: [.json, .jsonl].contains(output.output), inputs: [file])
    }
}

extension ImportedSchema.Writes: ExpressibleByArgument {}
