import Foundation
import SystemPackage
import Testing
import Yams

/// Tests that `init` writes files that work, replaces none, and writes no secret.
@Suite struct InitTests {
    /// Runs a test in a folder whose subfolder `schemas` has the demo's newer schema.
    private func withProject<R>(_ body: (CommandLineFolder) async throws -> R) async throws -> R {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try FileManager.default.copyItem(
            atPath: DemoApp.folder.appending("v2").string, toPath: folder.path.appending("schemas").string)
        return try await body(folder)
    }

    @Test func itWritesTheFirstFilesAndNamesTheFirstCommands() async throws {
        try await withProject { folder in
            let run = try await Program.run(["init", "--uri", "MONGODB_URI"], in: folder.path)
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(folder.names == ["jobs", "schemas", "shipshape.exceptions.yml", "shipshape.yml"])
            let text = try #require(folder.text(of: "shipshape.yml"))
            #expect(text.contains("\nuri: ${MONGODB_URI}\n"))
            #expect(text.contains("\nschema: \"schemas\"\n"), "the only folder with schemas is taken")
            let lines = run.output.split(separator: "\n")
            let next = lines.drop { $0 != "Next:" }.dropFirst().map { $0.drop { $0 == " " } }
            #expect(
                next == [
                    "export MONGODB_URI='mongodb+srv://…'", "shipshape doctor", "shipshape lint", "shipshape check",
                ])
            let lint = try await Program.run(["lint"], in: folder.path)
            #expect(lint.exitCode == 1)
            #expect(lint.output.contains("in 4 schemas of schemas."))
        }
    }

    /// The file `shipshape.yml` has remarks, and settings that are commented out.
    ///
    /// These settings must be valid. A remark begins with `#`, one space and a word. Any other `#` comments out a
    /// setting.
    @Test func everyCommentedSettingCanBeSwitchedOn() async throws {
        try await withProject { folder in
            #expect(try await Program.run(["init"], in: folder.path).exitCode == 0)
            let text = try #require(folder.text(of: "shipshape.yml"))
            let switchedOn = text.replacing(/(?m)^#(?! \S)/, with: "")
            try folder.write(switchedOn, to: "shipshape.yml")
            #expect(switchedOn.contains("\nmax-failing: 0.1%\n") && switchedOn.contains("\nenvironments:\n"))
            let run = try await Program.run(["doctor", "--settings", "list", "--env", "production"], in: folder.path)
            #expect(run.exitCode == 0, "\(run.errors)")
            let exceptions = try #require(folder.text(of: "shipshape.exceptions.yml"))
            let entry = exceptions.replacing("[]", with: "").split(separator: "\n").dropFirst(2).map { $0.dropFirst(2) }
            try folder.write(entry.joined(separator: "\n"), to: "shipshape.exceptions.yml")
            let check = try await Program.run(
                ["check", "--source", "schemas", "SHIPSHAPE_LEDGER=none"], in: folder.path)
            #expect(!check.errors.contains("shipshape.exceptions.yml"), "\(check.errors)")
            // The source `schemas` holds no documents, so the check ends after it has read the schema that
            // `shipshape.yml` names.
            #expect(check.errors.contains("schemas holds no documents"), "\(check.errors)")
        }
    }

    @Test func aFileThatExistsStopsItUnlessForced() async throws {
        try await withProject { folder in
            try folder.write("mine\n", to: "shipshape.exceptions.yml")
            let run = try await Program.run(["init"], in: folder.path)
            #expect(run.exitCode == 73)
            #expect(
                run.errors
                    == "shipshape: nothing was written: shipshape.exceptions.yml already exists (--force replaces it)\n"
            )
            #expect(folder.names == ["schemas", "shipshape.exceptions.yml"])
            #expect(try await Program.run(["init", "--force"], in: folder.path).exitCode == 0)
            #expect(folder.text(of: "shipshape.exceptions.yml")?.hasSuffix("[]\n") == true)
        }
    }

    /// The folder `jobs` cannot be created, because a file has this name.
    ///
    /// `init` must then not write the other files either.
    @Test func ifOneFileCannotBeWrittenNoneIs() async throws {
        try await withProject { folder in
            try folder.write("a file\n", to: "jobs")
            let run = try await Program.run(["init"], in: folder.path)
            #expect(run.exitCode == 73, "\(run.errors)")
            #expect(folder.names == ["jobs", "schemas"])
        }
    }

    @Test(arguments: ["mongodb://ada:sesame@db1/", "mongodb+srv://db1/?tlsCertificateKeyFilePassword=sesame"])
    func aConnectionStringWithASecretIsRefused(_ uri: String) async throws {
        try await withProject { folder in
            let run = try await Program.run(["init", "--uri", uri], in: folder.path)
            #expect(run.exitCode == 64)
            #expect(run.errors.contains("give the variable's name"), "\(run.errors)")
            #expect(!run.errors.contains("sesame"))
            #expect(folder.names == ["schemas"])
        }
    }

    @Test func aConnectionStringWithoutASecretIsWritten() async throws {
        try await withProject { folder in
            let run = try await Program.run(["init", "--uri", "mongodb://ada@db1/"], in: folder.path)
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(folder.text(of: "shipshape.yml")?.contains("\nuri: \"mongodb://ada@db1/\"\n") == true)
        }
    }

    @Test func severalSchemasNeedAChoice() async throws {
        try await withProject { folder in
            try FileManager.default.copyItem(
                atPath: DemoApp.folder.appending("v1").string, toPath: folder.path.appending("old").string)
            let run = try await Program.run(["init"], in: folder.path)
            #expect(run.exitCode == 64)
            #expect(run.errors.contains("without a terminal, init needs --schema: there are schemas in old, schemas"))
            let odd = try await Program.run(["init", "--schema", "nowhere"], in: folder.path)
            #expect(odd.exitCode == 64 && odd.errors.contains("--schema: nowhere: there is no such file or folder"))
        }
    }

    /// `init` and `check` report schema files whose names lack the database.
    ///
    /// The two commands do not treat the folder as empty.
    @Test func aSchemaThatNamesNoDatabaseIsNotOverlooked() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try FileManager.default.createDirectory(
            atPath: folder.path.appending("schemas").string, withIntermediateDirectories: false)
        for name in ["customers", "orders"] {
            try #"{"$jsonSchema": {"required": ["name"]}}"#.write(
                toFile: folder.path.appending("schemas/\(name).json").string, atomically: true, encoding: .utf8)
        }
        let message =
            "schemas/customers.json: the file does not say which collection it covers (name it "
            + "DATABASE.customers.json, and the folder's other schemas likewise)"
        for arguments in [["init"], ["check", "schemas", "--uri", "mongodb://127.0.0.1:1/"]] {
            let run = try await Program.run(arguments, in: folder.path)
            #expect([64, 65].contains(run.exitCode) && run.errors.contains(message), "\(run.errors)")
        }
        #expect(folder.names == ["schemas"])
    }

    @Test func withoutASchemaTheNextCommandDraftsOne() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let run = try await Program.run(["init", "--as", "jsonschema"], in: folder.path)
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(run.output.contains("shipshape schema infer --as jsonschema --out schemas"))
        #expect(folder.text(of: "shipshape.yml")?.contains("\nledger: none\n") == true)
    }

    @Test func atATerminalItAsks() async throws {
        try await withProject { folder in
            let run = try await Program.atTerminal(
                ["init"], askedFor: "[SHIPSHAPE_URI]: ",
                types: #"mongodb://ada:sesame@db1/\nMONGODB_URI\nnowhere\n\n"#, in: folder.path)
            #expect(run.exitCode == 0, "\(run.output)")
            #expect(run.output.replacing(/\s+/, with: " ").contains("must not be in a file"))
            #expect(run.output.contains("nowhere: there is no such file or folder"))
            #expect(run.output.replacing(/\s+/, with: " ").contains("or none [schemas]: "))
            #expect(!run.output.contains("The dialect"), "the schema shows it")
            #expect(folder.text(of: "shipshape.yml")?.contains("\nuri: ${MONGODB_URI}\n") == true)
            #expect(folder.text(of: "shipshape.yml")?.contains("sesame") == false)
        }
    }

    @Test func anEndOfTheInputWritesNothing() async throws {
        try await withProject { folder in
            let run = try await Program.atTerminal(
                ["init"], askedFor: "[SHIPSHAPE_URI]: ", types: #"\004"#, in: folder.path)
            #expect(run.exitCode == 75)
            #expect(run.output.contains("nothing was written"))
            #expect(folder.names == ["schemas"])
        }
    }
}

/// Tests of the CI workflows that `init` writes; the folder `jobs` of the repository has a copy of each workflow.
extension InitTests {
    @Test(arguments: [
        ("github", ".github/workflows/schemas.yml", "github-actions"), ("gitlab", ".gitlab/schemas.yml", "gitlab"),
    ])
    func aWorkflowIsTheOneOfTheRepository(_ service: String, _ path: String, _ folderOfJobs: String) async throws {
        try await withProject { folder in
            let run = try await Program.run(["init", "--ci", service], in: folder.path)
            #expect(run.exitCode == 0, "\(run.errors)")
            let written = try #require(folder.text(of: path))
            let shown = try String(
                contentsOfFile: Repository.path("jobs/\(folderOfJobs)/schemas.yml").string, encoding: .utf8)
            #expect(written == shown, "run scripts/reference")
            #expect(try Yams.compose(yaml: written)?.mapping != nil)
        }
    }

    @Test func aWorkflowNeedsASchemaInTheRepository() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let run = try await Program.run(["init", "--schema", "live", "--ci", "github"], in: folder.path)
        #expect(run.exitCode == 64)
        #expect(run.errors.contains("--ci needs a schema in the repository"))
        #expect(folder.names == [])
    }
}
