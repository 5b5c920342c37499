import BSON
import Foundation
import SystemPackage
import Testing

/// A ready job of `jobs/examples`, with documents before its run and the expected documents after it.
struct ReadyJobCase: CustomTestStringConvertible, Sendable {
    /// The file's name, without its ending.
    let name: String
    /// The documents by collection, as extended JSON; the job's own collection is the first.
    let before: [(collection: String, documents: [String])]
    /// The documents in the job's collection after the run.
    let after: [String]
    /// 1 if the job leaves documents for a person to fix.
    let exitCode: Int32
    var testDescription: String { name }

    init(_ name: String, before: [String], after: [String], exitCode: Int32 = 0) {
        self.init(name, before: [("Person", before)], after: after, exitCode: exitCode)
    }

    init(_ name: String, before: [(String, [String])], after: [String], exitCode: Int32 = 0) {
        (self.name, self.before, self.after, self.exitCode) = (name, before, after, exitCode)
    }

    /// The folder of the examples.
    static let folder = Repository.path("jobs/examples").string

    /// The names of all examples.
    static var names: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: folder).map { String($0.prefix { $0 != "." }) }.sorted()
        }
    }

    /// Returns the job's text, for the database of a test.
    func text(for database: String) throws -> String {
        try String(contentsOfFile: "\(Self.folder)/\(name).yml", encoding: .utf8).replacing(
            ": app.", with: ": \(database).")
    }
}
