import SchemaChange
import ServerSchema
import Testing

/// Tests which order of work a change has; `docs/reference/rules.md` names the changes of each order.
@Suite struct WorkOrderTests {
    private func prisma(_ line: String) throws -> ServerSchema {
        let text = """
            datasource db {
              provider = "mongodb"
            }
            enum Small {
              A
            }
            enum Large {
              A
              B
            }
            model User {
              id Int @id @map("_id")
              \(line)
            }
            """
        return try PrismaSchema(files: [SchemaSource(path: "schema.prisma", text: text)]).serverSchema(database: "app")
    }

    @Test(arguments: [
        ("", "x Int?", WorkOrder.prismaAnyTime), ("", "x Int @default(1)", .prismaAnyTime),
        ("x Int?", "", .prismaAnyTime), ("x Int", "x BigInt", .prismaAnyTime),
        ("", "x Int", .prismaFill), ("x Int?", "x Int", .prismaFill), ("x Int @default(1)", "x Int", .prismaFill),
        ("x Int @default(1)", "x Int @default(2)", .prismaFill),
        ("x Int? @default(1)", "x Int? @default(2)", .prismaAnyTime),
        ("x Float", "x BigInt", .prismaFill), ("x Large", "x Small", .prismaFill),
        ("x Int", "x Int?", .prismaReadFirst), ("x Int", "", .prismaReadFirst),
        ("x Small", "x Large", .prismaReadFirst),
        ("x Int", "x Json", .prismaReadFirst),
        ("x Int", "x String", .prismaExpand), ("x String", "x String @db.ObjectId", .prismaExpand),
        ("x Int", "x Int[]", .prismaExpand),
    ])
    func ofPrisma(_ old: String, _ new: String, _ expected: WorkOrder) throws {
        let changes = SchemaDiff.changes(from: try prisma(old), to: try prisma(new))
        #expect(
            changes.map { WorkOrder(of: $0.kind, in: .prisma) }.max { $0.rawValue.count < $1.rawValue.count }
                == expected)
    }

    @Test(arguments: [
        (#""a": {"bsonType": "int"}"#, #""a": {"bsonType": "int", "minimum": 1}"#, WorkOrder.validatorWarn),
        (#""a": {"bsonType": "int", "minimum": 1}"#, #""a": {"bsonType": "int"}"#, .validatorAnyTime),
    ])
    func ofValidators(_ old: String, _ new: String, _ expected: WorkOrder) throws {
        func schema(_ properties: String) throws -> ServerSchema {
            try ServerSchema.read(
                text: #"{"$jsonSchema": {"properties": {\#(properties)}}}"#, file: "v.json", namespace: people)
        }
        let changes = SchemaDiff.changes(from: try schema(old), to: try schema(new))
        #expect(changes.map { WorkOrder(of: $0.kind, in: .jsonSchema) } == [expected])
    }
}
