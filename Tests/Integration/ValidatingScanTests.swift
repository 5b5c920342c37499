import BSON
import Checking
import ServerSchema
import Testing

/// Tests that a single pass that validates and checks the bytes of a document finds the same as two separate passes.
@Suite struct ValidatingScanTests {
    private enum Judgement: Hashable {
        case verdict(Verdict)
        case damage(BSONError)

        init(_ judge: () throws(BSONError) -> Verdict) {
            do throws(BSONError) { self = .verdict(try judge()) } catch { self = .damage(error) }
        }
    }

    private static func schemas() throws -> [CompiledSchema] {
        try (RandomDocuments.schemas + NastyDocuments.schemas).flatMap { text in
            let read = try ServerSchema.read(text: text, namespace: Namespace(database: "app", collection: "c"))
            return [false, true].map { allowsMixedCollections in
                var options = CheckOptions()
                options.allowsMixedCollections = allowsMixedCollections
                return CompiledSchema(read.collections[0], options: options)
            }
        }
    }

    /// Expects that a single pass that validates and checks the bytes finds the same as two separate passes.
    ///
    /// - Returns: the findings of the two passes; `nil` if the bytes do not begin like a document.
    private static func expectSame(_ bytes: [UInt8], _ schema: CompiledSchema) -> Judgement? {
        guard let document = try? BSONDocument(bytes: bytes) else { return nil }
        let two = Judgement { () throws(BSONError) in
            try document.view.validate()
            return try schema.check(document.view)
        }
        let one = Judgement { () throws(BSONError) in try schema.validate(document.view) }
        #expect(one == two, "\(bytes)")
        return two
    }

    @Test func damageAnywhereIsReportedAlike() throws {
        var generator = RandomDocuments(seed: 11)
        let documents = (0..<60).map { generator.document($0) } + NastyDocuments.all
        var found: Set<Judgement> = []
        for schema in try Self.schemas() {
            for document in documents {
                var bytes = document.bytes
                found.formUnion([Self.expectSame(bytes, schema)].compactMap(\.self))
                for index in bytes.indices.dropFirst(4).dropLast() {
                    let right = bytes[index]
                    for wrong: UInt8 in [0, 2, 3, 8, 0x0F, 0xFF, right &+ 1] {
                        bytes[index] = wrong
                        found.formUnion([Self.expectSame(bytes, schema)].compactMap(\.self))
                    }
                    bytes[index] = right
                }
            }
        }
        let damages = Set(found.compactMap { if case .damage(let error) = $0 { error.code } else { nil } })
        #expect(damages.isSuperset(of: [.invalidBool, .truncated, .missingTerminator, .invalidLength, .unknownType]))
        #expect(found.contains(.verdict(.fits)) && found.contains(.verdict(.certain)))
    }

    @Test func theDepthHasOneLimit() throws {
        for schema in try Self.schemas() {
            for name in ["a", "b", "c", "d", "e"] {
                for levels in BSONView.maximumDepth - 2...BSONView.maximumDepth + 2 {
                    for isArray in [false, true] {
                        let value = (1..<levels).reduce(isArray ? .array(of: []) : [:] as BSONValue) { inner, _ in
                            isArray ? .array(of: [inner]) : .object(BSONDocument([(name, inner)]))
                        }
                        let found = Self.expectSame(BSONDocument([("_id", 1), (name, value)]).bytes, schema)
                        if levels > BSONView.maximumDepth {
                            guard case .damage(let error)? = found else {
                                Issue.record("\(levels) levels are allowed")
                                continue
                            }
                            #expect(error.code == .tooDeep)
                        }
                    }
                }
            }
        }
    }
}
