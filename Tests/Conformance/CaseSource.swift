import BSON
package import Proving
import ServerSchema
import SystemPackage

/// A source of cases for comparing the checker with mongod.
package protocol CaseSource: Sendable {
    /// Returns the next cases; `nil` after the last case.
    ///
    /// Each case is returned with the expected answers for its documents. The list of answers is empty if the source
    /// has none.
    mutating func next() throws -> [(CaseGroup, [ConformanceAnswer])]?
}

/// Random cases without expected answers.
package struct GeneratedCases: CaseSource {
    private var generator: CaseGenerator
    private var rest: Int

    /// Creates a source of cases with at least `count` documents in total.
    package init(count: Int, seed: UInt64) {
        generator = CaseGenerator(seed: seed)
        rest = count
    }

    /// Returns the next cases, which have about 1,000 documents in total, or all cases that are left; `nil` after the
    /// last case.
    package mutating func next() -> [(CaseGroup, [ConformanceAnswer])]? {
        guard rest > 0 else { return nil }
        var batch: [(CaseGroup, [ConformanceAnswer])] = []
        var count = 0
        while count < 1_000, rest > 0 {
            let group = generator.next()
            batch.append((group, []))
            count += group.documents.count
            rest -= group.documents.count
        }
        return batch
    }
}

/// The cases of a file, one per line.
package struct CaseFile: CaseSource {
    private let name: String
    private var lines: ArraySlice<ArraySlice<UInt8>>
    private var number = 0
    private let addsIDs: Bool

    /// Opens a file of cases.
    /// - Parameter addsIDs: whether a document without an `_id` gets one, as it would from mongod.
    package init(_ path: String, addsIDs: Bool = false) throws {
        self.addsIDs = addsIDs
        name = path == "-" ? "standard input" : path
        let descriptor = path == "-" ? FileDescriptor.standardInput : try FileDescriptor.open(FilePath(path), .readOnly)
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 1 << 20)
        while case let count = try unsafe block.withUnsafeMutableBytes({ unsafe try descriptor.read(into: $0) }),
            count > 0
        {
            bytes.append(contentsOf: block[..<count])
        }
        lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
    }

    /// Returns the next cases of the file; `nil` at the end of the file.
    package mutating func next() throws -> [(CaseGroup, [ConformanceAnswer])]? {
        var batch: [(CaseGroup, [ConformanceAnswer])] = []
        while batch.count < 200, let line = lines.popFirst() {
            number += 1
            let isBlank = line.allSatisfy { [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r")].contains($0) }
            if isBlank { continue }
            var (group, answers) = try ConformanceLine(Array(line), place: "\(name), line \(number)").caseAndAnswer
            if addsIDs { group = CaseGroup(schema: group.schema, documents: group.documents.map(Self.withID)) }
            batch.append((group, answers))
        }
        return batch.isEmpty ? nil : batch
    }

    private static func withID(_ document: BSONDocument) -> BSONDocument {
        guard document["_id"] == nil, let elements = try? document.elements() else { return document }
        return BSONDocument([("_id", .objectID(ObjectID(high: 1, low: 1)))] + elements.map { ($0.name, $0.value) })
    }
}

/// One line of a file of cases.
struct ConformanceLine {
    let caseAndAnswer: (CaseGroup, [ConformanceAnswer])

    init(_ bytes: [UInt8], place: String) throws {
        let json = try JSONParser.parse(bytes, file: place)
        guard let schema = json["schema"], let document = json["document"] else {
            throw CaseError(description: "\(place): a case has a schema and a document")
        }
        let expected: ConformanceAnswer =
            switch json["expected"]?.value {
            case .scalar(.bool(let fits)): .judged(fits)
            case .scalar(.null) where json["schema_error"].map { $0.members != nil } ?? false:
                .refused(json["schema_error"]?["message"]?.text ?? "")
            default: .none("nothing is expected")
            }
        let group = CaseGroup(
            schema: try Self.document(schema, place), documents: [try Self.document(document, place)])
        caseAndAnswer = (group, [expected])
    }

    private static func document(_ json: LocatedJSON, _ place: String) throws -> BSONDocument {
        guard case .object(let document) = try LocatedBSON(json).bson else {
            throw CaseError(description: "\(place): schema and document are objects")
        }
        return document
    }
}

/// An error in a file of cases, for example that a line is not a valid case.
package struct CaseError: Error, CustomStringConvertible {
    /// The position in the file, and the reason why the case at this position cannot be read.
    package let description: String
}
