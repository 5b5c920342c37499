import Testing

/// Tests `shipshape schema models` as a user runs it, on the command line.
@Suite struct ModelsCommandTests {
    private static let pet = """
        { "title": "Pet", "required": ["_id", "name"], "properties": {
          "_id": { "bsonType": "int" }, "name": { "bsonType": "string" }, "size": { "bsonType": ["int", "string"] } } }
        """

    @Test func aFileIsWrittenForEachTypeAndReplacedOnlyWithForce() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write(Self.pet, to: "pet.json")
        let arguments = [
            "schema", "models", "pet.json", "--collection", "shop.Pet", "--language", "swift", "--out", "models",
        ]
        let first = try await Program.run(arguments, in: folder.path)
        #expect(first.exitCode == 0, "\(first.errors)")
        #expect(
            first.output.hasPrefix(
                """
                1 class for swift in models.

                Files:
                  file       class  kind    collection
                  Pet.swift  Pet    object  shop.Pet

                """))
        #expect(first.output.contains("size has several types: int, string: the class has no such property"))
        let text = try #require(folder.text(of: "models/Pet.swift"))
        #expect(text.contains("@Persisted(primaryKey: true) var _id: Int?") == false)
        #expect(text.contains("@Persisted(primaryKey: true) var _id: Int\n"))
        try folder.write("mine", to: "models/Pet.swift")
        let second = try await Program.run(arguments, in: folder.path)
        #expect(second.exitCode == 73)
        #expect(
            second.errors
                == "shipshape: nothing was written: models/Pet.swift already exists (--force replaces it)\n")
        #expect(folder.text(of: "models/Pet.swift") == "mine")
        #expect(try await Program.run(arguments + ["--force"], in: folder.path).exitCode == 0)
        #expect(folder.text(of: "models/Pet.swift") == text)
    }

    @Test func withoutAFolderTheClassesAreTheOutputAndNotesAreNot() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write(Self.pet, to: "pet.json")
        let arguments = ["schema", "models", "pet.json", "--collection", "shop.Pet", "--language"]
        let dart = try await Program.run(arguments + ["dart"], in: folder.path)
        #expect(dart.exitCode == 0)
        #expect(dart.output.contains("class $Pet {\n"))
        #expect(dart.output.contains("// Left out: size has several types: int, string.\n"))
        #expect(dart.errors.contains("size has several types"))
        let json = try await Program.run(arguments + ["kotlin", "-o", "json"], in: folder.path)
        let value = try JSONValue(json.output)
        #expect(value["files"]?.elements.first?["text"]?.text?.contains("class Pet : RealmObject {") == true)
        let unknown = try await Program.run(arguments + ["cobol"], in: folder.path)
        #expect(unknown.exitCode == 64)
        #expect(unknown.errors.contains("swift"))
    }
}
