import BSON
import ServerSchema
import SystemPackage
import Testing

@testable import Checking
@testable import Scanning

/// Tests the search for `_id`s that differ but have equal texts.
@Suite struct EqualTextTests {
    /// A generator with a fixed seed, so that a failure can be repeated.
    private struct Random: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
    }

    /// Returns `_id`s of many types, some of which have equal texts; the server considers no two of them equal.
    private static func ids(_ count: Int, seed: UInt64) -> [BSONValue] {
        var random = Random(state: seed)
        var seen: Set<IDKey> = []
        var ids: [BSONValue] = []
        while ids.count < count {
            let number = UInt32.random(in: 0..<UInt32(count * 4), using: &random)
            let key = ObjectID(high: UInt64(number), low: number)
            let id: BSONValue =
                switch random.next() >> 40 % 7 {
                case 0: .long(Int64(number))
                case 1: .string("\(number)")
                case 2: .objectID(key)
                case 3: .string("\(key)")
                case 4: .double(Double(number) / 8)
                case 5: .string("\(Double(number) / 8)")
                default: .bool(number % 2 == 0)
                }
            if seen.insert(IDKey(id)).inserted { ids.append(id) }
        }
        return ids
    }

    private static let schema: CompiledSchema = {
        var options = CheckOptions()
        options.engine = EngineSettings(.any)
        let namespace = Namespace(database: "app", collection: "Task")
        let schema = CollectionSchema(
            namespace: namespace, root: SchemaNode(location: .init(file: "x", line: 1, column: 1)))
        return CompiledSchema(schema, options: options)
    }()

    private func search(_ ids: [BSONValue]) throws -> [BSONValue] {
        var search = EqualTextSearch(Self.schema, folder: nil)
        let found = try search.ids { body in
            for id in ids { try body(BSONDocument([("_id", id)]).view) }
        }
        let isIncomplete = search.isIncomplete
        #expect(!isIncomplete)
        return found
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func exactlyTheEqualTextsOfAHundredThousandAreFound(seed: UInt64) throws {
        let ids = Self.ids(100_000, seed: seed)
        var texts: [[UInt8]: [BSONValue]] = [:]
        for id in ids {
            let text = try #require(try Self.schema.idText(of: BSONDocument([("_id", id)]).view))
            texts[text, default: []].append(id)
        }
        let expected = texts.values.filter { $0.count > 1 }.flatMap(\.self).sorted(by: BSONOrder.precedes)
        #expect(expected.count > 1_000)
        #expect(try search(ids).map(IDKey.init) == expected.map(IDKey.init))
    }

    @Test func aDocumentThatASourceContainsTwiceIsNoPair() throws {
        #expect(try search([1, .long(1), .string("a"), .string("a")]).isEmpty)
        #expect(try search([1, .string("1"), .string("a"), .string("a")]).map(IDKey.init) == [.init(1), .init("1")])
    }

    @Test func theRecordsOfOneHashAreFoundAmongAMillion() throws {
        let log = KeyLog(folder: nil)
        var random = Random(state: 4)
        for _ in 1...1_000_000 { try insert(KeyHash(high: random.next(), low: 0), 0, 1, into: log) }
        let shared = KeyHash(high: 7, low: 1)
        let long = BSONValue.string(String(repeating: "x", count: 20_000))
        for id in [1, 1, 2, long] { try insert(shared, 3, id, into: log) }
        let search = SharedKeys(logs: [log])
        var found: [BSONValue?] = []
        for part in 0..<KeyLog.partCount {
            try search.find(in: part) { groups in
                #expect(part == 0 && groups.count == 1)
                try groups.read { group, note, document in
                    #expect(group == 0 && note == 3)
                    found.append(BSONDocument(copying: document)["_id"])
                }
            }
        }
        #expect(found.count == 4 && Set(found) == [1, 2, long])
    }

    private func insert(_ hash: KeyHash, _ note: UInt32, _ id: BSONValue, into log: KeyLog) throws {
        let document = BSONDocument([("_id", id)])
        let element = try #require(try document.view.find("_id"))
        log.insert(hash, note: note, element, of: document.view)
    }

    @Test func aFolderThatCannotBeWrittenIsAnError() throws {
        let log = KeyLog(folder: "/nowhere")
        for number in 0..<1_000 { try insert(KeyHash(high: UInt64(number), low: 0), 0, .integer(number), into: log) }
        #expect(throws: Errno.noSuchFileOrDirectory) { try log.read(0) { _, _, _ in } }
    }
}
