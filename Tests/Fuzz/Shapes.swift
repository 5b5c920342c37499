/// A family of valid or hostile inputs of one kind, which grows with a size.
struct Shape: Sendable, CustomStringConvertible {
    /// The name of the ``FuzzKind`` that reads the inputs.
    let kind: String
    let description: String
    /// Returns the input of a size: 1, 2, 4 or 8; its bytes grow with the size.
    let text: @Sendable (_ size: Int) -> String

    init(_ kind: String, _ name: String, _ text: @escaping @Sendable (Int) -> String) {
        (self.kind, description, self.text) = (kind, "\(kind): \(name)", text)
    }
}

extension Shape {
    static let all = prisma + validators + imported + others

    private static func lines(_ count: Int, _ line: (Int) -> String) -> String {
        (0..<count).map(line).joined(separator: "\n")
    }

    private static func schema(_ blocks: String, fields: String = "") -> String {
        """
        datasource db {
          provider = "mongodb"
        }
        model A {
          id String @id @map("_id")
        \(fields)
        }
        \(blocks)
        """
    }

    private static let prisma = [
        Shape("prisma", "types that use the next one twice") { size in
            schema(
                lines(11 * size) { "type T\($0) {\n  a T\($0 + 1)?\n  b T\($0 + 1)?\n}" }
                    + "\ntype T\(11 * size) {\n  x Int\n}",
                fields: "  t T0")
        },
        Shape("prisma", "a chain of types") { size in
            schema(
                lines(12 * size) { "type T\($0) {\n  a T\($0 + 1)\n}" } + "\ntype T\(12 * size) {\n  x Int\n}",
                fields: "  t T0")
        },
        Shape("prisma", "a chain of types that is too long") { size in
            schema(
                lines(400 * size) { "type T\($0) {\n  a T\($0 + 1)\n}" } + "\ntype T\(400 * size) {\n  x Int\n}",
                fields: "  t T0")
        },
        Shape("prisma", "types that contain each other") { size in
            let count = [1: 4, 2: 6, 4: 8, 8: 11][size] ?? 4
            return schema(
                lines(count) { type in "type T\(type) {\n\(lines(count) { "  f\($0) T\($0)?" })\n}" }, fields: "  t T0")
        },
        Shape("prisma", "one type in many models") { size in
            schema(
                "type T {\n\(lines(20) { "  f\($0) Int" })\n}\n"
                    + lines(20 * size) { "model M\($0) {\n  id String @id @map(\"_id\")\n  t T\n}" })
        },
        Shape("prisma", "a large type that all types contain") { size in
            schema(
                "type T {\n\(lines(30 * size) { "  f\($0) Int" })\n}\n"
                    + lines(30 * size) { "type U\($0) {\n  t T\n}" }, fields: lines(30 * size) { "  u\($0) U\($0)" })
        },
        Shape("prisma", "fields") { size in schema("", fields: lines(300 * size) { "  f\($0) Int" }) },
        Shape("prisma", "fields with comments") { size in
            schema("", fields: lines(300 * size) { "  /// the field \($0)\n  f\($0) Int" })
        },
        Shape("prisma", "comments above a field") { size in
            schema("", fields: lines(2_000 * size) { "  /// line \($0)" } + "\n  f Int")
        },
        Shape("prisma", "models") { size in
            schema(lines(100 * size) { "model M\($0) {\n  id String @id @map(\"_id\")\n}" })
        },
        Shape("prisma", "relations") { size in
            schema(
                lines(80 * size) {
                    "model M\($0) {\n  id String @id @map(\"_id\")\n  k String\n  m M\(($0 + 1) % (80 * size)) "
                        + "@relation(fields: [k], references: [id])\n}"
                })
        },
        Shape("prisma", "a large enum") { size in
            schema(
                "enum E {\n\(lines(100 * size) { "  V\($0)" })\n}",
                fields: lines(30) { "  f\($0) E @default(V\($0))" })
        },
        Shape("prisma", "control characters") { size in schema("", fields: lines(400 * size) { _ in "\u{1}" }) },
        Shape("prisma", "lines with errors") { size in schema("", fields: lines(400 * size) { "  f\($0) ?" }) },
        Shape("prisma", "unknown types") { size in
            schema(
                lines(100 * size) { "type Type\($0) {\n  x Int\n}" }, fields: lines(100 * size) { "  f\($0) Tipe\($0)" }
            )
        },
        Shape("prisma", "fields with one name") { size in schema("", fields: lines(300 * size) { _ in "  f Int" }) },
        Shape("prisma", "an attribute with many dots") { size in
            schema("", fields: "  f Int @" + String(repeating: "a.", count: 1_000 * size) + "a")
        },
        Shape("prisma", "a long list") { size in
            schema("", fields: "  f Int[] @default([\(String(repeating: "1,", count: 1_000 * size))1])")
        },
        Shape("prisma", "a deep list") { size in
            schema("", fields: "  f Int[] @default(" + String(repeating: "[", count: 500 * size))
        },
    ]

    private static func object(_ properties: String, _ more: String = "") -> String {
        "{\"bsonType\": \"object\", \"properties\": {\"_id\": {\"bsonType\": \"int\"}\(properties)}\(more)}"
    }

    private static func validator(_ properties: String, _ more: String = "") -> String {
        "{\"$jsonSchema\": \(object(properties, more))}"
    }

    private static func nested(_ open: String, _ close: String, _ count: Int) -> String {
        String(repeating: open, count: count) + "{\"bsonType\": \"int\"}" + String(repeating: close, count: count)
    }

    private static let validators = ["schema", "validator"].flatMap { kind in
        let file: @Sendable (String, String) -> String = kind == "schema" ? object : validator
        return [
            Shape(kind, "properties") { size in
                file(lines(300 * size) { ", \"f\($0)\": {\"bsonType\": \"int\"}" }, "")
            },
            Shape(kind, "required") { size in
                file("", ", \"required\": [\(lines(300 * size) { "\"f\($0)\"," })\n\"_id\"]")
            },
            Shape(kind, "objects in objects") { size in
                file(", \"a\": " + nested("{\"bsonType\": \"object\", \"properties\": {\"a\":", "}}", 12 * size), "")
            },
            Shape(kind, "lists in lists") { size in
                file(", \"a\": " + nested("{\"bsonType\": \"array\", \"items\":", "}", 12 * size), "")
            },
            Shape(kind, "negations in negations") { size in
                file(", \"a\": " + nested("{\"not\":", "}", 12 * size), "")
            },
            Shape(kind, "brackets") { size in String(repeating: "{\"a\":", count: 1_000 * size) },
            Shape(kind, "patterns") { size in
                file(
                    "",
                    ", \"patternProperties\": {\(lines(200 * size) { "\"^p\($0)$\": {\"bsonType\": \"int\"}," })\n\"^q$\": {}}"
                )
            },
            Shape(kind, "branches") { size in
                file("", ", \"anyOf\": [\(lines(200 * size) { "{\"required\": [\"f\($0)\"]}," })\n{}]")
            },
            Shape(kind, "dependencies") { size in
                file("", ", \"dependencies\": {\(lines(200 * size) { "\"f\($0)\": [\"_id\"]," })\n\"g\": [\"_id\"]}")
            },
            Shape(kind, "values of an enum") { size in
                file(", \"a\": {\"enum\": [\(lines(500 * size) { "\"v\($0)\"," })\n1]}", "")
            },
            Shape(kind, "unknown keywords") { size in
                file("", lines(300 * size) { ", \"propertie\($0)\": 1" })
            },
            Shape(kind, "one keyword again and again") { size in
                file("", lines(300 * size) { _ in ", \"title\": \"x\"" })
            },
            Shape(kind, "a long text") { size in
                file("", ", \"title\": \"\(String(repeating: "\\u0041", count: 3_000 * size))\"")
            },
        ]
    }

    private static let imported = [
        Shape("JSON Schema", "references to definitions") { size in
            "{\"properties\": {\(lines(100 * size) { "\"p\($0)\": {\"$ref\": \"#/$defs/d\($0 * 4)\"}," })\n\"q\": {}}, "
                + "\"$defs\": {\(lines(400 * size) { "\"d\($0)\": {\"type\": \"string\"}," })\n\"e\": {}}}"
        },
        Shape("JSON Schema", "identifiers") { size in
            "{\"properties\": {\(lines(100 * size) { "\"p\($0)\": {\"$ref\": \"s\($0).json\"}," })\n\"q\": {}}, "
                + "\"$defs\": {\(lines(100 * size) { "\"d\($0)\": {\"$id\": \"http://a/s\($0).json\"}," })\n\"e\": {}}}"
        },
        Shape("JSON Schema", "identifiers with one ending") { size in
            "{\"properties\": {\(lines(100 * size) { "\"p\($0)\": {\"$ref\": \"x/s.json#/a\"}," })\n\"q\": {}}, "
                + "\"$defs\": {\(lines(100 * size) { "\"d\($0)\": {\"$id\": \"http://a/\($0)/x/s.json\"}," })\n\"e\": {}}}"
        },
        Shape("JSON Schema", "a wrong reference among long names") { size in
            let name = String(repeating: "x", count: 60)
            return "{\"properties\": {\"p\": {\"$ref\": \"#/$defs/\(name)\"}}, "
                + "\"$defs\": {\(lines(200 * size) { "\"\(name)\($0)\": {}," })\n\"e\": {}}}"
        },
        Shape("JSON Schema", "definitions that use the next one twice") { size in
            "{\"$ref\": \"#/$defs/d0\", \"$defs\": {"
                + lines(11 * size) {
                    "\"d\($0)\": {\"properties\": {\"a\": {\"$ref\": \"#/$defs/d\($0 + 1)\"}, "
                        + "\"b\": {\"$ref\": \"#/$defs/d\($0 + 1)\"}}},"
                } + "\n\"d\(11 * size)\": {\"type\": \"string\"}}}"
        },
        Shape("JSON Schema", "a list in many places") { size in
            "{\"properties\": {\(lines(40 * size) { "\"p\($0)\": {\"$ref\": \"#/$defs/e\"}," })\n\"q\": {}}, "
                + "\"$defs\": {\"e\": {\"enum\": [\(lines(40) { "\"v\($0)\"," })\n1]}}}"
        },
        Shape("JSON Schema", "patterns") { size in
            "{\"patternProperties\": {\(lines(100 * size) { "\"^p\($0)$\": {\"type\": \"string\"}," })\n\"^q$\": {}}}"
        },
        Shape("JSON Schema", "unknown keywords") { size in
            "{\"type\": \"object\"\(lines(300 * size) { ", \"propertie\($0)\": 1" })}"
        },
        Shape("JSON Schema", "required and dependencies") { size in
            "{\"required\": [\(lines(200 * size) { "\"f\($0)\"," })\n\"g\"], \"dependentRequired\": "
                + "{\(lines(200 * size) { "\"f\($0)\": [\"g\"]," })\n\"g\": [\"f0\"]}}"
        },
        Shape("JSON Schema", "YAML with many keys") { size in
            "openapi: 3.0.3\ncomponents:\n  schemas:\n    A:\n      type: object\n      properties:\n"
                + lines(200 * size) { "        p\($0): {type: string}" }
        },
    ]

    private static let others = [
        Shape("job", "steps") { size in
            "job: a\ncollection: app.person\nsteps:\n" + lines(40 * size) { "  - default: {field: f\($0), value: 1}" }
        },
        Shape("job", "a value with many keys") { size in
            "job: a\ncollection: app.person\nsteps:\n  - default:\n      field: f\n      value:\n"
                + lines(200 * size) { "        k\($0): 1" }
        },
        Shape("job", "brackets") { size in "job: " + String(repeating: "[", count: 1_000 * size) },
        Shape("job", "keys that are unknown") { size in lines(300 * size) { "job\($0): a" } },
        Shape("ids", "lines") { size in lines(500 * size) { "{\"$oid\": \"\(String($0 + 1, radix: 16).padded(24))\"}" }
        },
        Shape("exceptions", "entries") { size in
            lines(100 * size) {
                "- {collection: app.person, path: name, rule: required-missing, reason: \"no\", owner: ada, "
                    + "fingerprint: \"\(String($0 + 1, radix: 16).padded(16))\"}"
            }
        },
        Shape("columns", "tables") { size in lines(100 * size) { "c\($0):\n  a: text\n  b: integer" } },
        Shape("columns", "columns") { size in "person:\n" + lines(300 * size) { "  f\($0): text" } },
        Shape("ObjectBox model", "entities") { size in
            "{\"entities\": ["
                + "\(lines(100 * size) { "{\"id\": \"\($0 + 1):1\", \"name\": \"E\($0)\", \"properties\": []}," })\n"
                + "{\"id\": \"9999:1\", \"name\": \"Z\", \"properties\": []}]}"
        },
        Shape("shipshape.yml", "environments") { size in
            "database: app\nenvironments:\n" + lines(100 * size) { "  e\($0):\n    database: d\($0)" }
        },
        Shape("configuration", "renames") { size in
            "renames:\n" + lines(100 * size) { "  - app.person.name=title\($0)" }
        },
        Shape("extended JSON", "fields") { size in "{\(lines(500 * size) { "\"f\($0)\": 1," })\n\"g\": 1}" },
        Shape("extended JSON", "brackets") { size in String(repeating: "{\"a\":", count: 1_000 * size) },
        Shape("pattern", "groups") { size in String(repeating: "(a|b)", count: 50 * size) },
        Shape("export", "documents") { size in lines(200 * size) { "{\"_id\": \($0)}" } },
        Shape("export", "brackets") { size in String(repeating: "[", count: 1_000 * size) },
        Shape("dump folder", "metadata with many keys") { size in
            "{\"options\": {\(lines(300 * size) { "\"f\($0)\": 1," })\n\"g\": 1}, \"indexes\": [], \"uuid\": \"0f\"}"
        },
    ]
}

extension String {
    /// The text with zeros in front of it, up to a length.
    fileprivate func padded(_ length: Int) -> String { String(repeating: "0", count: max(0, length - count)) + self }
}
