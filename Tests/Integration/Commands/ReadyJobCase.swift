import BSON
import Foundation
import SystemPackage
import Testing

/// A test case for a job of `jobs/examples`: documents before its run, and the expected documents after it.
struct ReadyJobCase: CustomTestStringConvertible, Sendable {
    /// The name of the job file, without its ending.
    let name: String
    /// The documents before the run, by collection, as extended JSON.
    ///
    /// The first collection is the one that the job changes.
    let before: [(collection: String, documents: [String])]
    /// The expected documents after the run in the collection that the job changes, as extended JSON.
    let after: [String]
    /// The expected exit code of the run: 1 if the job skips documents that a user has to fix, and otherwise 0.
    let exitCode: Int32
    var testDescription: String { name }

    init(_ name: String, before: [String], after: [String], exitCode: Int32 = 0) {
        self.init(name, before: [("Person", before)], after: after, exitCode: exitCode)
    }

    init(_ name: String, before: [(String, [String])], after: [String], exitCode: Int32 = 0) {
        (self.name, self.before, self.after, self.exitCode) = (name, before, after, exitCode)
    }

    /// The folder with the example jobs.
    static let folder = Repository.path("jobs/examples").string

    /// The names of all example jobs, without the endings of the files.
    static var names: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: folder).map { String($0.prefix { $0 != "." }) }.sorted()
        }
    }

    /// Returns the text of the job file, with the given database in place of `app`.
    func text(for database: String) throws -> String {
        try String(contentsOfFile: "\(Self.folder)/\(name).yml", encoding: .utf8).replacing(
            ": app.", with: ": \(database).")
    }
}
