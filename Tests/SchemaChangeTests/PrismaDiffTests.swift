import BSON
import SchemaChange
import ServerSchema
import Testing

/// Tests the two verdicts on a change of a Prisma schema: for the newer client, and for clients of the older schema.
///
/// The newer client reads the stored documents of older clients.
@Suite struct PrismaDiffTests {
    private func schema(_ lines: String, _ rest: String = "", map: String = "users") throws -> ServerSchema {
        let text = """
            datasource db {
              provider = "mongodb"
            }
            model User {
              id Int @id @map("_id")
              \(lines)
              @@map("\(map)")
            }
            \(rest)
            """
        return try PrismaSchema(files: [SchemaSource(path: "schema.prisma", text: text)])
            .serverSchema(database: "app")
    }

    private func verdicts(_ old: ServerSchema, _ new: ServerSchema) -> [String] {
        SchemaDiff.changes(from: old, to: new).map { change in
            ([change.code.rawValue, change.server.rawValue, change.client.rawValue]
                + change.kind.consequences.map(\.rawValue)).joined(separator: " ")
        }
    }

    private func verdicts(_ old: String, _ new: String, _ rest: String = "") throws -> [String] {
        verdicts(try schema(old, rest), try schema(new, rest))
    }

    @Test(arguments: [
        ("", "x Int", "required-added breaking non-breaking failed-queries"),
        ("", "x Int?", "optional-added non-breaking non-breaking"),
        ("", "x Int @default(0)", "required-added non-breaking non-breaking"),
        // The client uses a default that is a function, such as `now()`, only when it writes.
        ("", "x DateTime @default(now())", "required-added breaking non-breaking failed-queries"),
        ("x Int?", "x Int", "optional-to-required breaking non-breaking failed-queries"),
        ("x Int", "x Int?", "required-to-optional non-breaking breaking failed-old-clients"),
        ("x Int @default(0)", "x Int?", "required-to-optional non-breaking non-breaking"),
        ("x Int", "", "property-removed non-breaking breaking failed-old-clients"),
        ("x Int?", "", "property-removed non-breaking non-breaking"),
        ("x String[]", "", "property-removed non-breaking non-breaking"),
    ])
    func missingFields(_ old: String, _ new: String, _ expected: String) throws {
        #expect(try verdicts(old, new).first == expected)
    }

    @Test(arguments: [
        ("x Int", "x BigInt", "non-breaking non-breaking"),
        ("x BigInt", "x Int", "non-breaking non-breaking"),
        ("x Int", "x Float", "non-breaking non-breaking changed-values"),
        ("x Float", "x Int", "non-breaking non-breaking changed-values"),
        ("x Float", "x BigInt", "breaking non-breaking failed-queries"),
        ("x Int", "x String", "breaking breaking failed-queries failed-old-clients"),
        ("x String", "x String @db.ObjectId", "breaking breaking hidden-values"),
        ("x Boolean", "x Int", "breaking breaking failed-old-clients hidden-values"),
        ("x Bytes @db.ObjectId", "x String", "breaking breaking failed-old-clients hidden-values"),
        ("x DateTime", "x DateTime @db.Timestamp", "breaking breaking hidden-values"),
        ("x Int", "x Int @db.Int", "non-breaking non-breaking"),
        ("x Int", "x Json", "non-breaking breaking failed-old-clients"),
        ("x Json", "x Int", "breaking non-breaking failed-queries"),
        ("x Int", "x Int[]", "breaking breaking failed-queries failed-old-clients"),
        ("x Int[]", "x Float[]", "non-breaking non-breaking changed-values"),
        ("x E", "x String", "non-breaking breaking failed-old-clients"),
        ("x T", "x Json", "non-breaking breaking failed-old-clients"),
    ])
    func types(_ old: String, _ new: String, _ expected: String) throws {
        let found = try verdicts(old, new, "enum E {\n A\n}\ntype T {\n n Int?\n}\n")
        #expect(found.count == 1 && found[0].hasSuffix(" " + expected), "\(found)")
    }

    @Test func enumsAreReadIfTheReaderKnowsAllValues() throws {
        let (one, two) = ("enum E {\n A\n}", "enum E {\n A\n B\n}")
        #expect(
            verdicts(try schema("x E", one), try schema("x E", two))
                == ["constraint-loosened non-breaking breaking failed-old-clients"])
        #expect(
            verdicts(try schema("x E", two), try schema("x E", one))
                == ["constraint-tightened breaking non-breaking failed-queries"])
        #expect(verdicts(try schema("x E", two), try schema("x E", "enum E {\n C @map(\"A\")\n B\n}")).isEmpty)
    }

    /// A field's name in the documents can differ from its name in the schema (`@map`).
    ///
    /// Only a new name in the documents is reported as a rename.
    @Test func aNewNameInTheDocumentsIsARename() throws {
        #expect(
            try verdicts("x Int?", "x Int? @map(\"y\")") == ["property-renamed breaking breaking hidden-values"])
        #expect(try verdicts("x Int? @map(\"y\")", "z Int? @map(\"y\")").isEmpty)
        let (old, new) = ("type T {\n n Int?\n}", "type T {\n n Int? @map(\"m\")\n}")
        let nested = SchemaDiff.changes(from: try schema("t T[]", old), to: try schema("t T[]", new))
        #expect(nested.map { "\($0.code) \($0.oldPath) \($0.path)" } == ["property-renamed t[].n t[].m"])
        #expect(
            verdicts(try schema(""), try schema("", map: "people"))
                == ["collection-moved breaking breaking hidden-values"])
    }

    /// A client that requires a renamed field fails on documents that have the field's name from the other schema.
    ///
    /// A client that does not require the field, or has a default for it, only misses the field's value.
    @Test(arguments: [
        ("x Int", "x Int @map(\"y\")", "failed-queries failed-old-clients"),
        ("x Int?", "x Int @map(\"y\")", "failed-queries hidden-values"),
        ("x Int", "x Int @map(\"y\") @default(0)", "failed-old-clients hidden-values"),
    ])
    func aRenamedRequiredFieldFailsAClient(_ old: String, _ new: String, _ expected: String) throws {
        let found = try verdicts(old, new)
        #expect(found.contains("property-renamed breaking breaking \(expected)"), "\(found)")
    }

    @Test func theValuesThatAnEnumLosesAreNamed() throws {
        let changes = SchemaDiff.changes(
            from: try schema("x E", "enum E {\n A\n B @map(\"b\")\n C\n}"), to: try schema("x E", "enum E {\n A\n}"))
        #expect(changes.map(\.description) == ["x: enum restricted, no longer \"b\", \"C\""])
    }

    /// Two fields that exchange their names in the documents are not reported as renamed, because both names are in
    /// both schemas.
    @Test func swappedNamesAreNoRename() throws {
        let codes = try verdicts("a Int?\nb String?", "a Int? @map(\"b\")\nb String? @map(\"a\")")
        #expect(codes.allSatisfy { $0.hasPrefix("property-type-changed") } && codes.count == 2, "\(codes)")
    }

    /// The comparison of two collections finds a rename, as the comparison of two whole schemas does.
    ///
    /// The notes of a job use the comparison of two collections.
    @Test func oneCollectionIsComparedAlike() throws {
        let (old, new) = (try schema("x Int?"), try schema("x Int? @map(\"y\")"))
        let changes = SchemaDiff.changes(from: old.collections[0], to: new.collections[0])
        #expect(changes.map(\.code) == [.propertyRenamed])
    }

    @Test func relationsAreNotStored() throws {
        #expect(
            try verdicts(
                "postId Int?", "postId Int?\npost Post? @relation(fields: [postId], references: [id])",
                "model Post {\n id Int @id @map(\"_id\")\n users User[]\n}"
            ).isEmpty)
    }
}
