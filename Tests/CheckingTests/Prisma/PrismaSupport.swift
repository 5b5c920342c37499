import BSON
import Checking
import ServerSchema
import Testing

extension CompiledSchema {
    /// Compiles the model `User` of a Prisma schema; the model has an `id` and the given lines.
    /// - Parameter others: further types and enums.
    init(prisma lines: String, _ others: String = "") throws {
        let text = """
            datasource db { 
              provider = "mongodb"
            }
            model User {
              id Int @id @map("_id")
              \(lines)
            }
            \(others)
            """
        let schema = try PrismaSchema(files: [SchemaSource(path: "schema.prisma", text: text)])
        self.init(try #require(schema.serverSchema(database: "app").collections.first))
    }
}
