import Foundation
import SystemPackage
import TestSupport
import Testing

/// The nightly check as an operator installs it, but with every path below a folder of the test.
struct InstalledNightly {
    let root: CommandLineFolder
    private let shell: String

    /// Installs the check for cron.
    ///
    /// Cron runs the crontab's command with the variables that the crontab sets, and without those of the operator's
    /// shell.
    static func byCron(for database: TestDatabase, on mongod: Mongod) throws -> InstalledNightly {
        let crontab = try installed("jobs/cron/shipshape").split(separator: "\n").filter { !$0.hasPrefix("#") }
        let variables = crontab.filter { $0.contains("=") }.joined(separator: "\n")
        let line = try #require(crontab.first { $0.contains("/nightly") })
        let fields = line.split(separator: " ", maxSplits: 6)
        try #require(fields.count == 7, "five times, a user and a command: \(line)")
        #expect(fields[5] == "shipshape")
        return try InstalledNightly(for: database, on: mongod, shell: "\(variables)\nexport PATH\n\(fields[6])")
    }

    /// Installs the check for systemd, which runs the `ExecStart` of the service with the service's variables.
    static func bySystemd(for database: TestDatabase, on mongod: Mongod) throws -> InstalledNightly {
        let unit = try installed("jobs/systemd/shipshape-nightly.service")
        func value(_ key: String) throws -> Substring {
            try #require(unit.split(separator: "\n").first { $0.hasPrefix("\(key)=") }).dropFirst(key.count + 1)
        }
        return try InstalledNightly(
            for: database, on: mongod,
            shell: """
                set -a; . \(value("EnvironmentFile")); set +a
                export STATE_DIRECTORY="$ROOT/var/lib/\(value("StateDirectory"))" PATH="$ROOT/usr/bin:/usr/bin:/bin"
                exec \(value("ExecStart"))
                """)
    }

    private init(for database: TestDatabase, on mongod: Mongod, shell: String) throws {
        root = try CommandLineFolder()
        self.shell = shell
        let nightly = try root.write(try Self.installed("jobs/nightly"), to: "usr/lib/shipshape/nightly")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: nightly)
        let programs = root.path.appending("usr/bin")
        try FileManager.default.createDirectory(atPath: programs.string, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: programs.appending("shipshape").string, withDestinationPath: Program.path.string)
        try FileManager.default.createDirectory(
            atPath: root.path.appending("var/lib/shipshape").string, withIntermediateDirectories: true)
        try root.write(CommandLineFolder.person, to: "etc/shipshape/schemas/person.json")
        let settings = [
            "URI": mongod.uri, "SCHEMA": "$ROOT/etc/shipshape/schemas/person.json", "KEEP": "2",
            "OPTIONS": "--collection \(database.name).person", "RATE": "5000'\nSHIPSHAPE_LEDGER='none",
        ]
        let lines = try Self.installed("jobs/nightly.conf").split(separator: "\n").map { line in
            for (name, value) in settings where line.hasPrefix("SHIPSHAPE_\(name)=") {
                return "SHIPSHAPE_\(name)='\(value)'"
            }
            return String(line)
        }
        try root.write(
            lines.joined(separator: "\n").replacing("$ROOT", with: root.path.string), to: "etc/shipshape/nightly.conf")
    }

    /// Returns the text of a file of the repository, in which each path of an installed file or folder begins with
    /// `$ROOT`.
    private static func installed(_ path: String) throws -> String {
        var text = try String(contentsOfFile: Repository.path(path).string, encoding: .utf8)
        for place in ["/etc/shipshape", "/var/lib/shipshape", "/usr/lib/shipshape"] {
            text = text.replacing(place, with: "$ROOT\(place)")
        }
        return text.replacing("=/usr/local/bin:", with: "=$ROOT/usr/bin:")
    }

    /// Runs the check once, as cron or systemd would.
    func run() async throws -> ProgramRun {
        try await Program.shell(
            #"exec env -i ROOT="$1" HOME="$1" /bin/sh -c "$2""#, [root.path.string, shell])
    }

    /// Returns the sorted names of the report files that the check stored, if they end with `ending`.
    func reports(_ ending: String) throws -> [String] {
        let folder = root.path.appending("var/lib/shipshape/nightly").string
        return try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(ending) }.sorted()
    }
}
