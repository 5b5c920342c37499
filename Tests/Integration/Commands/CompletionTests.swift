import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests that bash completes the names of files and folders where a command takes such a name.
@Suite struct CompletionTests {
    /// Returns the completions that bash offers for the last word of a command line.
    ///
    /// The current folder contains `person 1.json` and `people/schema.json`.
    private func completed(_ words: [String]) async throws -> Set<String> {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write("{}", to: "person 1.json")
        try folder.write("{}", to: "people/schema.json")
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
        return Set(run.output.split(separator: "\n").map(String.init))
    }

    @Test(arguments: [
        "check", "diff old", "diff", "lint", "plan", "plan old", "backfill", "enforce", "undo", "status", "pause",
        "resume", "tune", "deployed", "rebind", "cleanup", "unsynced", "watch", "merge", "merge a", "infer --source",
        "infer --out", "import", "import s.json --out", "models", "grants check", "partner plan", "partner init",
        "partner mirror", "partner triggers",
        "check v2 --active", "check v2 --source", "check v2 --report", "check v2 --failures", "check v2 --metrics",
        "check v2 --exceptions", "check v2 --config", "check v2 --password-file", "check v2 --tls-ca-file",
        "check v2 --tls-certificate-key-file", "backfill j.yml --ids", "partner plan a b --out",
        "enforce --collmod-password-file",
    ])
    func filesAndFoldersAreOffered(_ line: String) async throws {
        let words = line.split(separator: " ").map(String.init)
        #expect(try await completed(words + ["pe"]) == ["person 1.json", "people"])
        #expect(try await completed(words + ["people/"]) == ["people/schema.json"])
    }

    @Test(arguments: ["migrate", "history", "check v2 --history", "plan a b --out", "models v2 --out"])
    func foldersAreOffered(_ line: String) async throws {
        #expect(try await completed(line.split(separator: " ").map(String.init) + ["pe"]) == ["people"])
    }

    @Test func commandsAndFlagsAreOfferedAsBefore() async throws {
        #expect(try await completed(["pa"]) == ["partner", "pause"])
        #expect(try await completed(["check", "v2", "--fail-on", "p"]) == ["possible"])
        #expect(try await completed(["check", "--pref"]) == ["--prefilter"])
        // The help of `check` leaves out the connection options, but the completion offers them.
        #expect(try await completed(["check", "--usern"]) == ["--username"])
    }
}
