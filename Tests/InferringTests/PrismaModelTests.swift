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
        ([.date(milliseconds: 0), .timestamp(1)], "Json"),
        ([.objectID(ObjectID(high: 1, low: 2))], "String @db.ObjectId"),
        ([.objectID(ObjectID(high: 1, low: 2)), "a"], "Json"), ([.binary(subtype: 0, bytes: [])], "Bytes"),
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
        // The comments with the shares of the types are not read.
        #expect(model.text.contains("  /// Int 66 %, String 34 %\n"))
        #expect(read.text == model.text.replacing(#/ +/// .*\n/#, with: ""))
        let collection = try #require(read.serverSchema(database: "app").collections.first)
        var options = Tally.Options()
        options.includesInfo = true
        var tally = Tally(CompiledSchema(collection), options: options)
        for document in documents { try tally.add(document.view) }
        #expect(tally.violationGroups.isEmpty, "\(model.text)")
    }

    @Test func theSharesOfTypesAreAComment() throws {
        let values: [BSONValue] = (0..<100).map { $0 < 92 ? "a" : 1 } + [.null]
        let text = try #require(try inference(Case.documents(values)).prisma).text
        #expect(text.contains("  /// String 92 %, Int 8 %\n  x "), "\(text)")
        let rare: [BSONValue] = (0..<1_000).map { $0 == 0 ? .decimal(Decimal128(1)) : "a" }
        #expect(
            try #require(try inference(Case.documents(rare)).prisma).text.contains(
                "/// String over 99 %, decimal below 1 %"))
        #expect(try !#require(try inference(Case.documents([1, 2])).prisma).text.contains("///"))
    }

    @Test func theIndexesOfTheCollectionBecomeAttributes() throws {
        let documents = Case.documents(10) { index in
            [("e-mail", "a"), ("n", .int(Int32(index))), ("address", ["zip": "1"]), ("at", .date(milliseconds: 0))]
        }
        let indexes: [BSONDocument] = [
            ["name": "_id_", "key": ["_id": 1]],
            ["name": "e-mail_1", "key": ["e-mail": 1], "unique": true],
            ["name": "Thing_n_key", "key": ["n": 1.0], "unique": true],
            ["name": "both", "key": ["address.zip": 1, "n": -1], "unique": true],
            ["name": "n_at", "key": ["n": .long(1), "at": 1]],
            ["name": "second", "key": ["n": 1, "at": 1], "hidden": true],
            ["name": "old", "key": ["at": 1], "expireAfterSeconds": 60],
            ["name": "some", "key": ["n": -1], "partialFilterExpression": ["n": ["$gt": 1]]],
            ["name": "words", "key": ["_fts": "text", "_ftsx": 1]],
            ["name": "gone", "key": ["missing": 1]],
        ]
        let options = Case.options(.prisma)
        let inference = try Inference(
            Case.survey(documents, options), of: Case.namespace, options: options, indexes: indexes)
        let lines = try #require(inference.prisma).text.split(separator: "\n").map { $0.split(separator: " ") }
            .map { $0.joined(separator: " ") }
        #expect(lines.contains { $0.hasPrefix("e_mail String @unique(map: \"e-mail_1\")") }, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("n Int @unique") })
        #expect(lines.contains("@@unique([address.zip, n(sort: Desc)], map: \"both\")"), "\(lines)")
        #expect(lines.contains("@@index([n, at], map: \"n_at\")"), "\(lines)")
        for (name, reason) in [
            ("second", "a second one over its fields"), ("old", "which removes old documents"),
            ("some", "which is partial"), ("words", "whose key no model can have"),
            ("gone", "whose key no model can have"),
        ] {
            #expect(lines.contains("/// not here: the index \"\(name)\", \(reason)"), "\(lines)")
        }
    }
}
