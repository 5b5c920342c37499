import BSON
import Checking
import Inferring
import ServerSchema
import Testing

/// Tests inferred Prisma models.
///
/// A field whose values are scalars gets a type that can read all of them. If there is no such type, the field gets
/// `Json`.
@Suite struct PrismaModelTests {
    private func inference(_ documents: [BSONDocument], enums: Bool = false) throws -> Inference {
        try Case.inference(of: documents, Case.options(.prisma, enums: enums))
    }

    /// Returns the type of the field `x` for these values, with its arity and its native type.
    private func type(_ values: [BSONValue]) throws -> String? {
        let text = try #require(try inference(Case.documents(values)).prisma).text
        let line = text.split(separator: "\n").first { $0.hasPrefix("  x ") }
        return line.map { $0.split(separator: " ").dropFirst().joined(separator: " ") }
    }

    static let types: [(values: [BSONValue], type: String)] = [
        ([1, .long(2)], "Int"), ([.long((1 << 60) + 1)], "BigInt"), ([1, .long((1 << 60) + 1)], "BigInt"),
        ([1.5, 2], "Float"),
        ([true], "Boolean"), ([1, true], "Json"), (["a"], "String"), ([.date(milliseconds: 0)], "DateTime"),
        ([.date(milliseconds: 0), .timestamp(1)], "DateTime"),
        ([.objectID(ObjectID(high: 1, low: 2))], "String @db.ObjectId"),
        ([.objectID(ObjectID(high: 1, low: 2)), "a"], "String"), ([.binary(subtype: 0, bytes: [])], "Bytes"),
        ([.decimal(Decimal128(1))], "Json"), ([1, "a"], "Json"), ([1, .null], "Int?"), ([[1], [2]], "Int[]"),
        ([[1], []], "Int[]"), ([[1, .null]], "Json"), ([[[1]]], "Json[]"), ([.double(.nan), 1.5], "Json"),
    ]

    @Test(arguments: types.indices) func scalars(_ index: Int) throws {
        #expect(try type(Self.types[index].values) == Self.types[index].type)
    }

    @Test func namesThatPrismaDoesNotAcceptAreMapped() throws {
        let text = try #require(
            try inference(Case.documents(2) { _ in [("_version", 1), ("first name", "a"), ("first-name", "b")] }).prisma
        ).text
        #expect(text.contains("id           Int    @id @map(\"_id\")"), "\(text)")
        #expect(text.contains("@map(\"_version\")"), "\(text)")
        #expect(text.contains("first_name   String @map(\"first name\")"), "\(text)")
        #expect(text.contains("first_name_2 String @map(\"first-name\")"), "\(text)")
    }

    @Test func objectsBecomeTypesAndRareValuesEnums() throws {
        let documents = Case.documents(2_000) { index in
            [
                ("address", ["city": .string("Rome \(index)")]),
                ("role", .string(index % 2 == 0 ? "admin" : "super user")),
            ]
        }
        let text = try #require(try inference(documents, enums: true).prisma).text
        #expect(text.contains("address ThingAddress\n"), "\(text)")
        #expect(text.contains("type ThingAddress {\n  city String\n}"), "\(text)")
        #expect(text.contains("role    ThingRole\n"), "\(text)")
        #expect(text.contains("super_user @map(\"super user\")"), "\(text)")
    }

    /// The parser reads the text of an inferred schema as the same schema, and a check by that schema finds nothing.
    @Test func aProposalReadsTheDocuments() throws {
        let documents = Case.documents(50) { index in
            [
                ("a", index % 2 == 0 ? 1 : .null), ("b", .array(of: [["n": 1.5], ["n": .long(7)]])),
                ("c", index % 3 == 0 ? "x" : 1), ("d", ["e": ["f": true]]),
            ]
        }
        let inference = try inference(documents)
        let model = try #require(inference.prisma)
        let read = try PrismaSchema(files: [SchemaSource(path: "p.prisma", text: model.text)])
        #expect(read.text == model.text)
        let collection = try #require(read.serverSchema(database: "app").collections.first)
        var options = Tally.Options()
        options.includesInfo = true
        var tally = Tally(CompiledSchema(collection), options: options)
        for document in documents { try tally.add(document.view) }
        #expect(tally.violationGroups.isEmpty, "\(model.text)")
    }
}
