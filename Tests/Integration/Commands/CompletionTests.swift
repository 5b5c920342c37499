import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests that shells complete the names of files and folders, jobs, collections and fields where a command takes them.
@Suite struct CompletionTests {
    /// Writes the files whose names the tests complete: `person 1.json`, `people/schema.json`, jobs, a schema and a
    /// configuration.
    private func makeFolder() throws -> CommandLineFolder {
        let folder = try CommandLineFolder()
        try folder.write("{}", to: "person 1.json")
        try folder.write("{}", to: "people/schema.json")
        try folder.write(
            "job: toys-2027\ncollection: app.pet\nsteps: [copy: {from: a, to: b}]\n", to: "jobs/pets.yml")
        try folder.write("job: $(touch hacked)\n", to: "jobs/odd.yml")
        try folder.write(
            """
            {"title": "Pet", "bsonType": "object", "properties": {
                "_id": {"bsonType": "int"},
                "toy": {"title": "Toy", "bsonType": "object", "properties": {
                    "colour": {"bsonType": "string"}, "$(touch hacked)": {"bsonType": "int"}}}}}
            """, to: "schemas/app.pet.json")
        try folder.write("schema: schemas\nenvironments: {production: {protected: true}}\n", to: "shipshape.yml")
        return folder
    }

    /// Returns the completions that bash offers for the last word of a command line.
    private func completed(_ words: [String]) async throws -> Set<String> {
        let folder = try makeFolder()
        defer { folder.remove() }
        let script = """
            cd "$1" && source <("$0" --generate-completion-script bash)
            shift
            PATH=$(dirname "$0"):$PATH COMP_WORDS=(shipshape "$@") COMP_CWORD=$# COMP_LINE="shipshape $*"
            COMP_POINT=${#COMP_LINE}
            _shipshape shipshape "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let run = try await Program.shell(script, [folder.path.string] + words)
        #expect(run.errors == "", "\(words)")
        #expect(folder.text(of: "hacked") == nil, "a completion ran a command")
        return Set(run.output.split(separator: "\n").map(String.init))
    }

    @Test(arguments: [
        "check", "check a", "check --join a", "diff old", "diff", "lint", "plan", "plan old", "backfill", "backfill a",
        "enforce", "undo", "status", "job pause", "job resume", "job tune", "job deployed", "job rebind", "job cleanup",
        "ledger show", "ledger follow", "schema infer --source", "schema infer --out", "schema import",
        "schema import s.json --out", "schema models", "grants check", "partner plan", "partner plan a",
        "partner init", "partner mirror",
        "check v2 --active", "check v2 --source", "check v2 --report", "check v2 --failures", "check v2 --metrics",
        "check v2 --config", "backfill j.yml --ids", "partner plan a b --out",
    ])
    func filesAndFoldersAreOffered(_ line: String) async throws {
        let words = line.split(separator: " ").map(String.init)
        #expect(try await completed(words + ["pe"]) == ["person 1.json", "people"])
        #expect(try await completed(words + ["people/"]) == ["people/schema.json"])
    }

    @Test(arguments: ["history", "check v2 --history", "plan a b --out", "schema models v2 --out"])
    func foldersAreOffered(_ line: String) async throws {
        #expect(try await completed(line.split(separator: " ").map(String.init) + ["pe"]) == ["people"])
    }

    @Test func commandsAndOptionsAreOffered() async throws {
        #expect(try await completed(["pa"]) == ["partner"])
        #expect(try await completed(["job", "pa"]) == ["pause"])
        #expect(try await completed(["check", "v2", "--fail-on", "b"]) == ["breaking"])
        #expect(try await completed(["check", "--coun"]) == ["--count-groups"])
    }

    // MARK: names in the project's files

    @Test(arguments: [
        "status", "job pause", "job resume", "job tune", "job deployed", "job rebind", "job cleanup", "undo",
        "backfill jobs --until",
    ])
    func jobsAreOfferedByName(_ line: String) async throws {
        let words = line.split(separator: " ").map(String.init)
        #expect(try await completed(words + ["toys"]) == ["toys-2027"])
        #expect(try await completed(words + ["jobs/p"]) == ["jobs/pets.yml"])
    }

    @Test(arguments: ["check --collection", "lint --collection", "check schemas --collection", "plan a b --collection"])
    func collectionsOfTheSchemaAreOffered(_ line: String) async throws {
        #expect(try await completed(line.split(separator: " ").map(String.init) + ["ap"]) == ["app.pet"])
    }

    @Test(arguments: ["plan schemas b --default"])
    func fieldsOfTheSchemaAreOffered(_ line: String) async throws {
        let words = line.split(separator: " ").map(String.init)
        #expect(try await completed(words + ["Pet.t"]) == ["Pet.toy=", "Pet.toy.colour="])
    }

    @Test func environmentsAreOffered() async throws {
        #expect(try await completed(["status", "--env", "p"]) == ["production"])
    }

    // MARK: other shells

    /// An interactive shell in which a test presses keys.
    enum Shell: String, CaseIterable, Sendable {
        case fish, zsh

        /// The lines of zsh that start the shell on a terminal of its own, with the program's completions.
        ///
        /// The shell prints `ready`. Then the key Ctrl-X prints the command line between `<<<` and `>>>`.
        fileprivate var start: String {
            switch self {
            case .fish:
                #"""
                shipshape --generate-completion-script fish >.completions.fish
                print -r -- 'bind \cx "echo \"<<<\"(commandline)\">>>\"; commandline \"\""' >.keys.fish
                zpty shell fish --no-config -i -C "'source .completions.fish; source .keys.fish; echo rea''dy'"
                """#
            case .zsh:
                #"""
                mkdir .functions && shipshape --generate-completion-script zsh >.functions/_shipshape
                zpty shell zsh -f -i
                say() { zpty -w shell "$1"; }
                say 'PS1=; fpath+=(.functions); autoload -Uz compinit; compinit -u -D; bindkey "^I" complete-word'
                say 'show() { print -r -- "<<<$BUFFER>>>"; BUFFER=; zle accept-line }; zle -N show; bindkey "^X" show'
                say 'echo rea""dy'
                """#
            }
        }

        static let areInstalled = allCases.allSatisfy {
            FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0.rawValue)")
        }
    }

    /// The shells fish and zsh offer the same completions as bash.
    ///
    /// The test presses the Tab key in an interactive shell, and reads the command line that results.
    @Test(
        .enabled(if: Shell.areInstalled, "scripts/setup --tests installs them"), arguments: Shell.allCases,
        [
            ("shipshape status toys", "toys-2027"), ("shipshape check --collection ap", "app.pet"),
            ("shipshape plan schemas b --default Pet.toy.c", "Pet.toy.colour="), ("shipshape job pau", "pause"),
            ("shipshape check peo", "people/"), ("shipshape status --env p", "production"),
        ])
    func otherShellsOfferTheSame(_ shell: Shell, _ example: (line: String, word: String)) async throws {
        let folder = try makeFolder()
        defer { folder.remove() }
        let driver = try folder.write(
            """
            zmodload zsh/zpty
            \(shell.start)
            zpty -r shell seen '*ready*'
            zpty -n -w shell "$1"$'\\t'
            zpty -n -w shell $'\\x18'
            zpty -r shell seen '*<<<*>>>*'
            print -r -- ${${seen##*<<<}%%>>>*}

            """, to: ".press")
        let script = #"cd "$1" && HOME=$1 PATH=$(dirname "$0"):$PATH TERM=dumb timeout 60 zsh -f "$2" "$3""#
        let run = try await Program.shell(script, [folder.path.string, driver, example.line])
        let words = run.output.split(whereSeparator: \.isWhitespace)
        #expect(words.last == example.word[...], "\(run.output) \(run.errors)")
        #expect(folder.text(of: "hacked") == nil, "a completion ran a command")
    }
}
