import BSON
import Foundation
import ServerSchema
import Testing

/// Tests the table of `docs/reference/prisma.md`: what Prisma refuses, `lint` or the reader reports.
@Suite struct PrismaRefusalTests {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../docs/reference/prisma.md").standardized

    struct Row: CustomTestStringConvertible, Sendable {
        let (check, example, code): (String, String, String)
        var testDescription: String { "\(check): \(example)" }
    }

    /// The rows of the page that have an example.
    private static let rows: [Row] = ((try? String(contentsOf: page, encoding: .utf8)) ?? "").split(separator: "\n")
        .compactMap { line in
            let cells = line.split(separator: " | ").map { $0.trimmingCharacters(in: ["|", " "]) }
            guard line.hasPrefix("| "), cells.count == 3, cells[1].hasPrefix("`") else { return nil }
            return Row(
                check: cells[0], example: cells[1].trimmingCharacters(in: ["`"]),
                code: cells[2].trimmingCharacters(in: ["`"]))
        }

    /// Returns the codes of the findings of the schema that an example stands for.
    private static func findings(_ example: String) throws -> [LintFinding] {
        let isSource = !example.contains("{")
        let source = "datasource db {\n provider = \"mongodb\"\n \(isSource ? example : "")\n}\n"
        let blocks = isSource ? "model A { }" : example
        let text = blocks.replacing(/(model|type|enum) (\w+) \{ ?(.*?) ?\}(?= |$)/) { match in
            let hasID = match.output.1 != "model" || match.output.3.contains("@id") || match.output.3.contains("@@id")
            let id = hasID ? "" : "id String @id @map(\"_id\") @db.ObjectId\n"
            let lines = match.output.3.replacing("; ", with: "\n")
            return "\(match.output.1) \(match.output.2) {\n\(id)\(lines)\n}\n"
        }
        let prisma = try PrismaSchema(files: [SchemaSource(path: "s.prisma", text: source + text)])
        var schema = prisma.serverSchema(database: "app")
        schema.prisma = prisma
        return SchemaLint.findings(in: schema)
    }

    @Test func thePageHasExamples() { #expect(Self.rows.count > 90) }

    @Test(arguments: rows) func theExampleIsRefused(_ row: Row) throws {
        guard row.code == "unreadable" else {
            let findings = try Self.findings(row.example)
            return #expect(Set(findings.map(\.code.rawValue)) == [row.code], "\(findings)")
        }
        #expect(throws: SchemaError.self) { try Self.findings(row.example) }
    }

    /// The same parts as in the table, as Prisma accepts them.
    @Test(arguments: [
        #"model A { x Int @unique(map: "a", sort: Desc); y String; @@unique([x, y], name: "both"); @@index([y, x]) }"#,
        "type T { x Int } model A { t T; y T?; @@unique([t.x]); @@index([y]) }",
        "type T { t T?; x Int @default(1) @map(\"y\") } model A { t T[] }",
        #"model A { x DateTime @updatedAt; y String @default(uuid(7)); z String @default(nanoid(9)); @@map("a") }"#,
        #"model A { x Json @default("{\"$oid\": \"5\"}"); y Json @default("{\"$oid\": 5, \"a\": [1, 2.5]}") }"#,
        #"model A { b B? } model B { aId String? @unique @db.ObjectId; a A? @relation(fields: [aId], references: [id]) }"#,
        #"model A { bs B[] } model B { aId String @db.ObjectId; a A @relation(fields: [aId], references: [id], onDelete: Cascade) }"#,
        #"model A { x Int; y Int; bs B[]; @@unique([x, y]) } model B { k Int; l Int; a A @relation(fields: [k, l], references: [y, x]) }"#,
        #"model A { p String? @db.ObjectId; a A? @relation("r", fields: [p], references: [id], onDelete: NoAction, onUpdate: NoAction); as A[] @relation("r") }"#,
        #"model A { k String[] @db.ObjectId; bs B[] @relation(fields: [k], references: [id]) } model B { k String[] @db.ObjectId; as A[] @relation(fields: [k], references: [id]) }"#,
        #"model A { bs B[] @relation("x"); cs B[] @relation("y") } model B { k String @db.ObjectId; l String @db.ObjectId; a A @relation("x", fields: [k], references: [id]); c A @relation("y", fields: [l], references: [id]) }"#,
        #"model A { bs B[]; cs C[] } model B { k String @db.ObjectId; a A @relation(fields: [k], references: [id]); cs C[] } model C { k String @db.ObjectId; l String @db.ObjectId; a A @relation(fields: [k], references: [id]); b B @relation(fields: [l], references: [id]) }"#,
        "relationMode = \"prisma\"",
    ])
    func nothingElseIsRefused(_ example: String) throws { #expect(try Self.findings(example) == []) }

    @Test func aCommentInSlashesAndStarsIsRead() throws {
        let text = """
            datasource db {
              /* one
                 model X { */ provider = "mongodb"
            }
            /**
             * @deprecated 2026-01-31 use y
             */
            model A { /* a */
              id String @id @map("_id")
              /* @deprecated 2026-02-28 */
              x  Int? /* "no string */
            }
            """
        let schema = try PrismaSchema(files: [SchemaSource(path: "s.prisma", text: text)])
        #expect(schema.models.map(\.name) == ["A"])
        #expect(schema.models.first?["x"]?.deprecation != nil)
        #expect(schema.models.first?["x"]?.location.line == 11)
        #expect(throws: SchemaError.self) {
            try PrismaSchema(files: [SchemaSource(path: "s.prisma", text: text + "\n/* no end")])
        }
    }
}
