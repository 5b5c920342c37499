import BSON
import ServerSchema
import Testing

/// Tests the annotation that states the last day on which clients may use a property.
@Suite struct DeprecationTests {
    private static let people = Namespace(database: "app", collection: "Person")

    @Test(arguments: [
        ("@deprecated 2027-03-31", "2027-03-31"), ("Old name. @deprecated 2028-02-29: use name.", "2028-02-29"),
        ("@deprecated\n2027-03-31, then gone", "2027-03-31"),
    ])
    func aDescriptionNamesTheLastDay(_ text: String, _ day: String) {
        #expect(Deprecation(in: text)?.day == day)
    }

    @Test(arguments: ["@deprecated", "@deprecated soon", "@deprecated 2027-02-29", "@deprecated 31.3.2027"])
    func anAnnotationWithoutADayIsKnownAsSuch(_ text: String) throws {
        #expect(try #require(Deprecation(in: text)).day == nil)
    }

    @Test(arguments: ["", "deprecated 2027-03-31", "me@deprecated 2027-03-31", "@deprecated2027-03-31"])
    func otherDescriptionsHaveNone(_ text: String) { #expect(Deprecation(in: text) == nil) }

    private func property(_ description: String, dialect: String) throws -> SchemaNode? {
        let property = #""n": {"bsonType": "int", "minimum": 1, "description": "\#(description)"}"#
        let schema = #"{"title": "P", "properties": {"_id": {"bsonType": "int"}, \#(property)}}"#
        let text = dialect == "jsonschema" ? #"{"$jsonSchema": \#(schema)}"# : schema
        return try ServerSchema.read(text: text, namespace: Self.people).collections.first?.root.property("n")
    }

    @Test(arguments: ["appservices", "jsonschema"]) func bothDialectsOfJSONHaveIt(_ dialect: String) throws {
        let node = try #require(try property("@deprecated 2027-03-31", dialect: dialect))
        #expect(node.deprecation?.day == "2027-03-31")
        // The annotation does not replace the other constraints of the property, here `minimum`.
        #expect(node.constraints.minimum.number != nil)
        #expect(try property("nothing", dialect: dialect)?.deprecation == nil)
    }

    @Test func aPrismaFieldHasItInAComment() throws {
        let text = """
            datasource db {
              provider = "mongodb"
              url      = env("DATABASE_URL")
            }
            model Person {
              id   String @id @default(auto()) @map("_id") @db.ObjectId
              /// The name before 2026.
              /// @deprecated 2027-03-31
              name String? /// Still read.
              nick String? /// @deprecated 2027-04-30
              // @deprecated 2027-05-31
              plain String?
            }
            """
        let prisma = try PrismaSchema(files: [SchemaSource(path: "s.prisma", text: text)])
        let root = try #require(prisma.serverSchema(database: "app").collections.first?.root)
        func day(_ name: String) -> String? { root.property(name)?.deprecation?.day }
        #expect(day("name") == "2027-03-31" && day("nick") == "2027-04-30")
        // The comment at the end of the line of `nick` documents only `nick`. A comment with `//` documents nothing.
        #expect(day("plain") == nil)
    }
}
