import BSON
import ServerSchema
import Testing

/// Tests that a schema is refused before it costs more than its size explains: each limit, and the size just below it.
@Suite struct LimitTests {
    private static let namespace = Namespace(database: "app", collection: "a")

    /// Returns the errors of a schema; empty if it can be read.
    private static func errors(_ read: () throws(SchemaError) -> Void) -> [SchemaError] {
        do throws(SchemaError) { try read() } catch { return [error] + error.others }
        return []
    }

    private static func json(_ open: String, _ close: String, _ levels: Int) -> [SchemaError] {
        // The schema of "a" is the second level.
        let nested =
            String(repeating: open, count: levels - 2) + "{\"bsonType\": \"int\"}"
            + String(repeating: close, count: levels - 2)
        let properties =
            "{\"bsonType\": \"object\", \"properties\": {\"_id\": {\"bsonType\": \"int\"},\n\"a\": \(nested)}}"
        return errors { () throws(SchemaError) in _ = try ServerSchema.read(text: properties, namespace: namespace) }
            + errors { () throws(SchemaError) in
                _ = try ServerSchema.read(text: "{\"$jsonSchema\": \(properties)}", namespace: namespace)
            }
    }

    @Test(arguments: [
        ("{\"bsonType\": \"array\", \"items\": ", "}"), ("{\"not\": ", "}"),
        ("{\"bsonType\": \"object\", \"additionalProperties\": ", "}"),
    ]) func schemasInEachOtherHaveALimit(_ open: String, _ close: String) {
        #expect(Self.json(open, close, 100) == [])
        let errors = Self.json(open, close, 101)
        #expect(errors.count == 2 && errors.allSatisfy { $0.code == .tooDeep && $0.location.line == 2 }, "\(errors)")
        #expect(errors.first?.message == "schemas are nested more than 100 levels deep")
    }

    private static func prisma(_ lines: String) -> [SchemaError] {
        let text = "datasource db {\n  provider = \"mongodb\"\n}\n\(lines)\n"
        return errors { () throws(SchemaError) in
            _ = try PrismaSchema(files: [SchemaSource(path: "s.prisma", text: text)])
        }
    }

    private static func model(_ fields: String) -> String { "model A {\n  id Int @id @map(\"_id\")\n  \(fields)\n}\n" }

    private static func chain(_ count: Int, _ mark: String = "") -> String {
        model("t T0") + (0..<count).map { "type T\($0) {\n  a T\($0 + 1)\(mark)\n}" }.joined(separator: "\n")
            + "\ntype T\(count) {\n  x Int\n}"
    }

    @Test func prismaTypesInEachOtherHaveALimit() {
        #expect(Self.prisma(Self.chain(98)) == [])
        #expect(Self.prisma(Self.chain(49, "[]")) == [])
        for text in [Self.chain(99), Self.chain(3_000), Self.chain(50, "[]")] {
            let errors = Self.prisma(text)
            #expect(errors.map(\.code) == [.tooDeep] && errors[0].location.line > 4, "\(errors)")
        }
        // A type inside itself is one type, whatever the number of types between the two.
        #expect(Self.prisma(Self.chain(60) + "\ntype U {\n  t T0\n  u U?\n}") == [])
    }

    @Test func modelsHaveALimitTogetherWithTheirTypes() {
        let type = "type T {\n\((0..<100).map { "  f\($0) Int" }.joined(separator: "\n"))\n}\n"
        func models(_ count: Int) -> String {
            (0..<count).map { "model M\($0) {\n  id Int @id @map(\"_id\")\n  t T\n}\n" }.joined()
        }
        #expect(Self.prisma(type + models(200)) == [])
        #expect(Self.prisma(type + models(210)).map(\.code) == [.tooLarge])
    }

    @Test func theFieldsOfAFileHaveALimit() {
        func fields(_ count: Int) -> String { Self.model((0..<count).map { "f\($0) Int" }.joined(separator: "\n")) }
        #expect(Self.prisma(fields(20_998)) == [])
        #expect(Self.prisma(fields(21_000)).map(\.code) == [.tooLarge])
        let list = String(repeating: "1, ", count: 30_000)
        #expect(Self.prisma(Self.model("f Int[] @default([\(list)1])")).map(\.code) == [.tooLarge])
        let dots = String(repeating: "a.", count: 30_000)
        #expect(Self.prisma(Self.model("f Int @\(dots)a")).map(\.code) == [.tooLarge])
    }

    @Test func theFieldsOfAJSONFileHaveALimitInEveryDialect() {
        func fields(_ count: Int, _ name: String) -> String {
            (0..<count).map { "\"\(name)\($0)\": {}" }.joined(separator: ",")
        }
        func errors(_ first: Int, _ second: Int) -> [SchemaError] {
            let object =
                "{\"bsonType\": \"object\", \"properties\": {\"o\":\n{\"bsonType\": \"object\", \"properties\": "
                + "{\(fields(first, "f"))}},\n\(fields(second, "g"))}}"
            return [object, "{\"$jsonSchema\": \(object)}"].flatMap { text in
                Self.errors { () throws(SchemaError) in
                    _ = try ServerSchema.read(text: text, namespace: Self.namespace)
                }
            }
        }
        #expect(errors(11_000, 9_999) == [])
        let refused = errors(11_000, 10_000)
        #expect(refused.map(\.code) == [.tooLarge, .tooLarge] && refused.allSatisfy { $0.location.line == 2 })
        #expect(refused.first?.message == "the file has more than 21000 fields")
    }

    /// The error of the limit stands alone: nothing follows from the text that was not read.
    @Test func aTextOfAPrismaFileHasALimit() {
        func errors(_ count: Int) -> [SchemaError] {
            Self.prisma(Self.model("f String @default(\"\(String(repeating: "x", count: count))\")\n  g Strin"))
        }
        #expect(errors(1_000_000).map(\.message) == ["unknown type \"Strin\""])
        let refused = errors(1_000_001)
        #expect(refused.map(\.message) == ["a text has more than 1000000 bytes"])
        #expect(refused.first?.location.line == 6)
    }

    /// Only the annotation and what follows it is kept of a comment.
    @Test func anAnnotationIsFoundInALongComment() throws {
        let lines = String(repeating: "/// line\n", count: 5_000)
        let fields = "\(lines)/// @deprecated\n/// 2027-03-31\n\(lines)f Int\n/// text\ng Int"
        let text = "datasource db {\n  provider = \"mongodb\"\n}\n\(Self.model(fields))\n"
        let schema = try PrismaSchema(files: [SchemaSource(path: "s.prisma", text: text)])
        #expect(schema.models[0].fields.map { $0.deprecation?.day } == [nil, "2027-03-31", nil])
    }

    @Test func theErrorsOfAFileHaveALimit() {
        let signs = Self.prisma("model A {\n" + String(repeating: "\u{1}\n", count: 4_000) + "}")
        #expect(signs.count == 1_000)
        #expect(Set(signs.map(\.message)) == ["unexpected character \"\\u0001\""])
        let lines = Self.prisma("model A {\n" + String(repeating: "  f ?\n", count: 4_000) + "}")
        #expect(lines.count == 1_000)
        let types = Self.prisma(Self.model((0..<4_000).map { "f\($0) Strin" }.joined(separator: "\n")))
        #expect(types.count == 1_000)
        #expect(types.filter { $0.remedy == "did you mean \"String\"?" }.count == SchemaError.mostShown)
    }

    @Test func theValuesOfAFileHaveALimit() throws {
        let list = "[" + String(repeating: "1,", count: 99_998) + "1]"
        #expect(try JSONParser.parse(Array(list.utf8), file: "f").elements?.count == 99_999)
        let errors = Self.errors { () throws(SchemaError) in
            _ = try JSONParser.parse(Array("[1,\(list.dropFirst())".utf8), file: "f")
        }
        #expect(errors.map(\.code) == [.tooLarge])
        let text = String(repeating: "x", count: 1_000_000)
        #expect(try JSONParser.parse(Array("\"\(text)\"".utf8), file: "f").text == text)
        let long = Self.errors { () throws(SchemaError) in
            _ = try JSONParser.parse(Array("\"x\(text)\"".utf8), file: "f")
        }
        #expect(long.map(\.code) == [.tooLarge])
    }

    /// A use of a type is written out for `diff`, `plan` and `import` only while the schema stays small.
    @Test func typesThatUseTheNextOneTwiceAreNotAllWrittenOut() throws {
        let types = (0..<40).map { "type T\($0) {\n  a T\($0 + 1)\n  b T\($0 + 1)\n}" }.joined(separator: "\n")
        let text =
            "datasource db {\n  provider = \"mongodb\"\n}\n\(Self.model("t T0"))\(types)\ntype T40 {\n  x Int\n}\n"
        let schema = try PrismaSchema(files: [SchemaSource(path: "s.prisma", text: text)])
            .serverSchema(database: "app")
        func count(_ node: SchemaNode) -> Int { node.properties.reduce(1) { $0 + count($1.node) } }
        #expect(count(schema.collections[0].root) < 3_000)
        #expect(schema.collections[0].types.count == 41)
        #expect(schema.notes.map(\.message).contains { $0.contains("is in very many places") })
        #expect(schema.collections[0].root.node(at: (["t"] + Array(repeating: "a", count: 40) + ["x"])) != nil)
    }
}
