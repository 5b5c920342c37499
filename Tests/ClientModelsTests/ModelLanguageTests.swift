import BSON
import ClientModels
import Foundation
import ServerSchema
import Subprocess
import SystemPackage
import Testing

/// Tests the classes that `schema models` writes for an app with every kind of property.
///
/// `Fixtures` contains the expected files. After an intended change, write them again and check the differences:
/// `shipshape schema models Tests/ClientModelsTests/Fixtures/app --language swift --out
/// Tests/ClientModelsTests/Fixtures/swift --force`.
@Suite struct ModelLanguageTests {
    private static let fixtures = FilePath(#filePath).removingLastComponent().appending("Fixtures")

    private func classes() throws -> ObjectClasses {
        try ObjectClasses(of: ServerSchema.read(at: Self.fixtures.appending("app").string))
    }

    @Test(arguments: ModelLanguage.allCases)
    func theFilesAreTheStoredOnes(_ language: ModelLanguage) throws {
        let folder = Self.fixtures.appending(language.rawValue)
        let files = language.files(of: try classes())
        let existing = try FileManager.default.contentsOfDirectory(atPath: folder.string)
        #expect(files.map(\.name).sorted() == existing.sorted())
        for file in files {
            let text = try String(contentsOfFile: folder.appending(file.name).string, encoding: .utf8)
            #expect(file.text == text, "\(language.rawValue)/\(file.name)")
        }
    }

    @Test func swiftsOwnCompilerReadsTheFiles() async throws {
        let folder = Self.fixtures.appending("swift")
        let files = ModelLanguage.swift.files(of: try classes()).map { folder.appending($0.name).string }
        let run = try await Subprocess.run(
            .name("swiftc"), arguments: Arguments(["-frontend", "-parse"] + files), output: .discarded,
            error: .string(limit: 1 << 16))
        #expect(run.terminationStatus.isSuccess, "\(run.standardError)")
    }

    @Test func notesSayWhatIsLeftOutAndMadeUp() throws {
        let notes = try classes().notes.map { "\($0.namespace?.collection ?? "") \($0.message)" }
        #expect(
            notes == [
                "Order the embedded object at lines[] has no title: its class is named Order_lines",
                "Order code has several types: int, string: the class has no such property",
                "Order match has the type regex, which clients do not have: the class has no such property",
                "Order grid holds collections, which clients do not have: the class has no such property",
            ])
    }

    private func classes(of texts: [(String, String)]) throws -> ObjectClasses {
        var schema = ServerSchema(dialect: .appServices, collections: [])
        for (name, text) in texts {
            let namespace = Namespace(database: "shop", collection: name)
            schema.collections += try ServerSchema.read(text: text, file: name, namespace: namespace).collections
        }
        return try ObjectClasses(of: schema)
    }

    private static func embedding(_ type: String) -> String {
        """
        { "title": "Holder", "properties": { "_id": { "bsonType": "int" }, "part":
          { "title": "Part", "bsonType": "object", "properties": { "size": { "bsonType": "\(type)" } } } } }
        """
    }

    @Test func oneTitleForTwoShapesIsRefused() throws {
        let other = Self.embedding("string").replacing("Holder", with: "Other")
        #expect(throws: SchemaError.self) { try classes(of: [("a", Self.embedding("int")), ("b", other)]) }
        #expect(throws: SchemaError.self) {
            try classes(of: [("a", Self.embedding("int")), ("b", Self.embedding("int"))])
        }
        // Objects of the same shape share one class.
        let same = Self.embedding("int").replacing("Holder", with: "Other")
        #expect(
            try classes(of: [("a", Self.embedding("int")), ("b", same)]).classes.map(\.name) == [
                "Holder", "Other", "Part",
            ])
    }

    @Test func filesDifferAlsoWhereCaseDoesNotCount() throws {
        let text = #"{ "title": "NAME", "properties": { "_id": { "bsonType": "int" } } }"#
        let all = try classes(of: [
            ("a", text.replacing("NAME", with: "Item")), ("b", text.replacing("NAME", with: "item")),
        ])
        #expect(ModelLanguage.swift.files(of: all).map(\.name) == ["Item.swift", "item_.swift"])
        #expect(ModelLanguage.swift.files(of: all)[1].text.contains(#"_realmObjectName() -> String? { "item" }"#))
    }

    /// The name of a field is only data, so it must not end a string or a comment of the generated file.
    @Test(arguments: ModelLanguage.allCases)
    func aHostileNameStaysInsideItsText(_ language: ModelLanguage) throws {
        let text = #"""
            { "title": "T", "properties": { "_id": { "bsonType": "int" },
              "a\"); evil()\n//\\(x)${x}": { "bsonType": "int" }, "b\nevil()": { "bsonType": "regex" } } }
            """#
        let file = try #require(language.files(of: try classes(of: [("t", text)])).first)
        #expect(!file.text.contains(where: { $0 == "\r" }))
        #expect(
            !file.text.split(separator: "\n").contains { $0.trimmingPrefix(while: \.isWhitespace).hasPrefix("evil") })
        let quoted = file.text.replacing("\\\\", with: "").replacing("\\\"", with: "")
        #expect(
            quoted.split(separator: "\n").allSatisfy { line in line.count(where: { $0 == "\"" }).isMultiple(of: 2) })
        if [.kotlin, .dart].contains(language) { #expect(file.text.contains("\\${x}")) }
    }

    /// A property keeps its name even if the name has a meaning in JavaScript.
    ///
    /// The test lets Node read the schema of the generated class.
    @Test(arguments: ["__proto__", "constructor", "toString", "hasOwnProperty"])
    func aPropertyMayHaveTheNameOfAnInheritedMember(_ name: String) async throws {
        let text =
            #"{ "title": "T", "properties": { "_id": { "bsonType": "int" }, "\#(name)": { "bsonType": "string" } } }"#
        let file = try #require(ModelLanguage.typescript.files(of: try classes(of: [("t", text)])).first)
        let start = try #require(file.text.firstRange(of: "static schema: Realm.ObjectSchema = "))
        let end = try #require(file.text.firstRange(of: "\n  };"))
        let literal = file.text[start.upperBound..<end.lowerBound] + "}"
        let script = "console.log(Object.values((\(literal)).properties).map((type) => type.mapTo || type).join())"
        let run = try await Subprocess.run(
            .name("node"), arguments: ["-e", script], output: .string(limit: 1 << 16), error: .string(limit: 1 << 16))
        #expect(run.standardOutput == "int?,\(name)\n", "\(run.standardError)")
        #expect(!file.text.contains("  \(name)?: "))
    }
}
