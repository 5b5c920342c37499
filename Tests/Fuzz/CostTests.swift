import BSON
import Foundation
import Reporting
import SchemaChange
import ServerSchema
import Testing

/// Tests that no reader costs more than the size of its input explains.
///
/// The inputs are generated shapes, because random changes of valid inputs never make, for example, a long chain of
/// types. `noInputIsTooMuch` has the same limit for random inputs.
@Suite(.serialized) struct CostTests {
    /// The largest cost of size 8, as a multiple of the cost of size 1.
    private static let mostGrowth = 12.0
    /// The costs below which a ratio says nothing, because the cost of any input has a constant part.
    private static let (leastAllocations, leastBytes, leastSeconds) = (3_000, 500_000, 0.02)

    @Test(arguments: Shape.all) func theCostGrowsWithTheSize(_ shape: Shape) throws {
        let folder = try FuzzFolder()
        defer { folder.remove() }
        let kind = try #require(try FuzzKind.all(in: folder).first { $0.name == shape.kind }, "\(shape)")
        let inputs = [1, 2, 4, 8].map { Array(shape.text($0).utf8) }
        try? kind.parse(inputs[0])
        let costs = inputs.map { input in Cost.measure { try kind.parse(input) } }
        for (input, cost) in zip(inputs, costs) {
            print(
                "cost of \(shape), \(input.count) bytes: \(cost.allocations) allocations, \(cost.bytes >> 10) KiB, "
                    + "\(cost.seconds) s"
            )
        }
        #expect(
            Double(costs[3].allocations) <= Self.mostGrowth * Double(max(costs[0].allocations, Self.leastAllocations)),
            "\(shape): \(costs)")
        #expect(
            Double(costs[3].bytes) <= Self.mostGrowth * Double(max(costs[0].bytes, Self.leastBytes)),
            "\(shape): \(costs)")
        // Another test on the same core can slow down a run, so a time above the limit is measured again.
        var (first, last) = (costs[0].seconds, costs[3].seconds)
        for _ in 0..<4 where last > Self.mostGrowth * max(first, Self.leastSeconds) {
            last = min(last, Cost.measure { try kind.parse(inputs[3]) }.seconds)
            first = max(first, Cost.measure { try kind.parse(inputs[0]) }.seconds)
        }
        #expect(last <= Self.mostGrowth * max(first, Self.leastSeconds), "\(shape): \(first) s, then \(last) s")
    }

    /// A JSON text is written once, and not once for each object around it.
    @Test func aReportIsWrittenOnce() throws {
        let findings = (0..<2_000).map { number in
            LintFinding(
                .typeMissing, .warning, at: SourceLocation(file: "app/schema.json", line: number + 1, column: 3),
                "the property f\(number) has no type", remedy: "write bsonType")
        }
        let report = LintResult(
            LintReport(source: "app", schema: try Self.validator(fields: 1), findings: findings), isStrict: false)
        let value = report.json
        var text = ""
        let json = Cost.measure { text = value.text }
        print("cost of \(text.utf8.count) bytes of JSON: \(json.bytes) bytes")
        #expect(json.bytes < 8 * text.utf8.count, "\(json) for \(text.utf8.count) bytes")
    }

    /// A field of a validator without keywords such as `minimum` takes no memory for them.
    @Test func aFieldWithoutConstraintsHasNoMemoryForThem() {
        let cost = Cost.measure { _ = try Self.validator(fields: 2_000) }
        print("cost of a field: \(cost.allocations / 2_000) allocations, \(cost.bytes / 2_000) bytes")
        #expect(cost.bytes < 2_000 * 4_700, "\(cost)")
    }

    /// The comparison costs no more than the changes, also where each removed field could be each added one, and where
    /// each object has a removal and an addition that look like a rename.
    @Test func aComparisonCostsNoMoreThanItsChanges() throws {
        func objects(_ count: Int, _ name: String) -> String {
            (0..<count).map { "\"o\($0)\": {\"bsonType\": \"object\", \"properties\": {\"\(name)\": {}}}" }
                .joined(separator: ",\n")
        }
        for schema: (Int, String) throws -> ServerSchema in [
            { try Self.validator(fields: $0, $1) }, { try Self.validator(objects($0, $1)) },
        ] {
            let costs = try [250, 2_000].map { count in
                let (old, new) = (try schema(count, "a"), try schema(count, "b"))
                return Cost.measure {
                    let changes = SchemaDiff.changes(from: old, to: new)
                    let report = DiffReport(old: "a", new: "b", dialect: .jsonSchema, changes: changes)
                    for change in changes { _ = report.hint(for: change) }
                }
            }
            print("cost of a comparison: \(costs)")
            #expect(Double(costs[1].bytes) <= Self.mostGrowth * Double(costs[0].bytes), "\(costs)")
            #expect(Double(costs[1].allocations) <= Self.mostGrowth * Double(costs[0].allocations), "\(costs)")
        }
    }

    /// A text that is too long is not copied before it is refused.
    @Test func aLongTextIsNotCopied() {
        let text = "model A {\n  f String @default(\"\(String(repeating: "x", count: 8_000_000))\")\n}\n"
        let cost = Cost.measure { _ = try PrismaSchema(files: [SchemaSource(path: "s.prisma", text: text)]) }
        print("cost of a text of 8 MB: \(cost.bytes) bytes")
        #expect(cost.bytes < 9_000_000, "\(cost)")
    }

    private static func validator(fields: Int, _ name: String = "f") throws -> ServerSchema {
        let properties = (0..<fields).map { "\"\(name)\($0)\": {\"bsonType\": \"int\"}" }.joined(separator: ",\n")
        return try validator(properties)
    }

    private static func validator(_ properties: String) throws -> ServerSchema {
        try ServerSchema.read(
            text: "{\"$jsonSchema\": {\"bsonType\": \"object\", \"properties\": {\(properties)}}}",
            namespace: Namespace(database: "app", collection: "a"))
    }
}
