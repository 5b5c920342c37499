import BSON
import Conformance
import Foundation
import Proving

/// A kind of input of the program, with sample inputs and a function that reads one.
struct FuzzKind: Sendable {
    let name: String
    /// The sample inputs, most of them valid, which are then changed at random.
    let seeds: [[UInt8]]
    /// Reads an input; throws the error with which the program refuses it.
    let read: @Sendable ([UInt8]) throws -> Void
    /// Reads an input as ``read`` does, without what the program computes from it beyond a single reading.
    let parse: @Sendable ([UInt8]) throws -> Void

    init(
        _ name: String, _ seeds: [[UInt8]], _ read: @escaping @Sendable ([UInt8]) throws -> Void,
        parse: (@Sendable ([UInt8]) throws -> Void)? = nil
    ) {
        precondition(!seeds.isEmpty, "\(name) has no corpus")
        (self.name, self.seeds, self.read, self.parse) = (name, seeds, read, parse ?? read)
    }

    init(_ name: String, texts seeds: [String], _ read: @escaping @Sendable (String) throws -> Void) {
        self.init(name, seeds.map { Array($0.utf8) }) { try read(String(decoding: $0, as: UTF8.self)) }
    }

    /// The name of the kind in file names.
    var fileName: String { String(name.map { $0.isLetter || $0.isNumber ? $0 : "-" }) }

    /// The inputs of this kind in `Regressions`, each of which once made the program fail.
    var regressions: [[UInt8]] { Corpus.files("Tests/Fuzz/Regressions/\(fileName)", "") }
}

/// The sample inputs: files of the repository, and cases of the conformance tests.
enum Corpus {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Returns the contents of all files below a folder that have this ending.
    static func files(_ folder: String, _ ending: String) -> [[UInt8]] {
        let base = root.appendingPathComponent(folder)
        let paths = FileManager.default.enumerator(atPath: base.path)?.compactMap { $0 as? String } ?? []
        return paths.sorted().filter { $0.hasSuffix(ending) }.compactMap { path in
            (try? Data(contentsOf: base.appendingPathComponent(path))).map { Array($0) }
        }
    }

    /// Random schemas with documents, which are the same in each run.
    static let cases: [CaseGroup] = {
        var generator = CaseGenerator(seed: 7, documentCount: 4)
        return (0..<24).map { _ in generator.next() }
    }()

    static let schemas = files("Tests/ServerSchemaTests/Fixtures", "schema.json") + appServices
    static let appServices = cases.compactMap(\.appServicesText).map { Array($0.utf8) }
    static let validators =
        files("Tests/PlanningTests/Fixtures/validator", ".json")
        + cases.compactMap { try? "{\"$jsonSchema\": \($0.schema.extendedJSON())}" }.map { Array($0.utf8) }
    static let prisma =
        files("scripts/demo-app/prisma", ".prisma") + files("Tests/Integration/Prisma/Fixtures", ".prisma")
    static let contracts = files("scripts/demo-app/prisma8", ".prisma")
    /// Inputs that consist of a schema's text, a zero byte, and documents.
    static let judgements = cases.flatMap { group in
        [try? "{\"$jsonSchema\": \(group.schema.extendedJSON())}", group.appServicesText].compactMap(\.self).map {
            text in
            Array(text.utf8) + [0] + group.documents.flatMap(\.bytes)
        }
    }
    static let jsonSchemas =
        files("Tests/ImportingTests/Fixtures", ".json") + [
            Array("openapi: 3.0.3\ncomponents:\n  schemas:\n    A: {type: object, properties: {b: {type: no}}}\n".utf8)
        ]
    static let jobs = files("jobs/examples", ".yml")
    static let documents = cases.flatMap(\.documents)
}

/// A temporary folder for inputs that are read from files.
struct FuzzFolder: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "/shipshape-fuzz-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file into the folder, and returns its path.
    func file(_ bytes: [UInt8], _ name: String) throws -> String {
        let place = URL(fileURLWithPath: path).appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: place)
        return place.path
    }

    /// Writes these files into a new folder, runs `body` with the path of the folder, and removes the folder.
    func with(_ files: [(name: String, bytes: [UInt8])], _ body: (String) throws -> Void) throws {
        let folder = "\(path)/\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for (name, bytes) in files {
            let place = URL(fileURLWithPath: folder).appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(bytes).write(to: place)
        }
        try body(folder)
    }
}
