package import BSON
internal import CPages
import Checking
package import Mongo

/// Compares the verdicts of the dialect `jsonschema`, and the schemas that it refuses, with a server's.
struct JudgingProof: GroupProof {
    var part = Proof.Part(.judging)

    private let server: MongoCollection
    private let build: BuildInfo
    private var random: CaseGenerator
    private var fixed: [CaseGroup]

    init(on server: MongoCollection, of build: BuildInfo, seed: UInt64) {
        self.server = server
        self.build = build
        random = CaseGenerator(seed: seed)
        fixed = Self.fixedCases.reversed()
    }

    /// Each keyword with values on both sides of it: a page of the tests, which the program carries with it.
    private static let fixedCases: [CaseGroup] = {
        let page = unsafe shipshape_keyword_cases()
        let text = unsafe String(decoding: UnsafeBufferPointer(start: page.bytes, count: page.size), as: UTF8.self)
        return text.split(separator: "\n").compactMap { line in
            guard let fixed = try? BSONDocument(extendedJSON: String(line)), let schema = fixed["schema"]?.document,
                let document = fixed["document"]?.document
            else { return nil }
            return CaseGroup(schema: schema, documents: [document])
        }
    }()

    /// The number of fixed cases that were not compared yet; `nil` if all were.
    var openCases: Int? { fixed.isEmpty ? nil : fixed.count }

    mutating func next() throws(MongoError) {
        let group = fixed.popLast() ?? random.next()
        guard !build.isKnownToDiffer(on: group.schema) else { return part.known += group.documents.count }
        let judge = JudgingSchema(group.schema)
        for (document, answer) in zip(group.documents, try server.verdicts(on: group.documents, by: group.schema)) {
            if case .none(let reason) = answer {
                part.isUnanswered(reason)
                continue
            }
            part.compared(Self.keywords(in: .object(group.schema)))
            guard !judge.answer(for: document).agrees(with: answer) else { continue }
            try differs(group.schema, document)
        }
    }

    /// Records a difference, by the smallest schema and document that show one.
    private mutating func differs(_ schema: BSONDocument, _ document: BSONDocument) throws(MongoError) {
        guard part.wantsMore else { return part.missed += 1 }
        let (server, build) = (self.server, self.build)
        func isDifferent(_ schema: BSONDocument, _ document: BSONDocument) throws(MongoError) -> Bool {
            let answer = try server.verdicts(on: [document], by: schema)[0]
            if case .none = answer { return false }
            guard !build.isKnownToDiffer(on: schema) else { return false }
            return !JudgingSchema(schema).answer(for: document).agrees(with: answer)
        }
        let document = try Smaller.document(document, keeping: ["_id"]) { smaller throws(MongoError) in
            try isDifferent(schema, smaller)
        }
        let schema = try Smaller.document(schema) { smaller throws(MongoError) in try isDifferent(smaller, document) }
        let keywords = Self.keywords(in: .object(schema)).sorted()
        let subject = keywords.isEmpty ? "an empty schema" : keywords.joined(separator: ", ")
        guard !part.differences.contains(where: { $0.subject == subject }) else { return part.missed += 1 }
        part.differ(
            subject, ["schema": .object(schema), "document": .object(document)],
            program: JudgingSchema(schema).answer(for: document).description,
            server: try server.verdicts(on: [document], by: schema)[0].description)
    }

    private static func keywords(in schema: BSONValue) -> Set<String> {
        schema.names(exceptInside: "enum").intersection(SchemaGenerator.keywords)
    }
}

extension MongoCollection {
    /// Returns the server's verdicts on documents, which it does not store.
    ///
    /// Each of several documents has an `_id` of its own, which is a number.
    /// - Throws: ``MongoError`` of the connection. A refused schema is an answer and no error.
    package func verdicts(
        on documents: [BSONDocument], by schema: BSONDocument
    ) throws(MongoError) -> [ConformanceAnswer] {
        // A server may move a $match to an earlier place, but not past a $limit.
        let stages: [BSONDocument] = [
            ["$limit": .integer(documents.count)], ["$match": ["$jsonSchema": .object(schema)]],
            ["$project": ["_id": 1]],
        ]
        do {
            let fitting = try aggregate(over: documents, stages, options: .simpleCollation)
            guard documents.count > 1 else { return [.judged(!fitting.isEmpty)] }
            let numbers = Set(fitting.map(\.number))
            return documents.map { .judged(numbers.contains($0.number)) }
        } catch {
            guard error.isAnswer else { throw error }
            return documents.map { _ in ConformanceAnswer(of: error) }
        }
    }
}

extension ConformanceAnswer {
    /// Makes the answer of a server that ended a query by a schema with an error: it refuses the schema, unless the
    /// query itself failed.
    package init(of error: MongoError) {
        self = error.message.contains("Executor error") ? .none(error.message) : .refused(error.message)
    }
}

extension BSONDocument {
    /// The option of a command by which the collection's own collation does not apply.
    static let simpleCollation: BSONDocument = ["collation": ["locale": "simple"]]
}

extension MongoError {
    /// Whether the server evaluated the command and answered that it cannot do it, so that another case may succeed.
    var isAnswer: Bool {
        domain == .server && !isTransient && !isAuthorization && !isInterruption && !isTimeLimit
    }
}

extension BuildInfo {
    /// Whether this server's queries are known to judge documents by the schema differently from the program.
    ///
    /// The page `docs/reference/servers.md` lists these differences.
    func isKnownToDiffer(on schema: BSONDocument) -> Bool {
        // Before MongoDB 6.0.6, a property without a name applies to the object that contains the field if a query
        // reads stored documents, and to the field itself otherwise.
        if schema.namesNoField { return true }
        // A server before 6.0 refuses a `title` inside `dependencies`, and some forms of `encrypt`.
        guard !isAtLeast(6), let text = try? schema.extendedJSON() else { return false }
        return text.contains(#""encrypt""#) || text.contains(#""title""#)
    }
}

extension BSONDocument {
    /// Whether the schema, or a schema inside it, has a rule for a field without a name.
    fileprivate var namesNoField: Bool {
        ((try? elements()) ?? []).contains { field in
            let inner: [BSONValue] =
                switch field.value {
                case .object(let object), .array(let object): object.values
                default: []
                }
            return ["properties", "dependencies"].contains(field.name) && field.value.document?[""] != nil
                || ["required", "dependencies"].contains(field.name) && inner.contains { $0.holdsNoName }
                || inner.contains { $0.document?.namesNoField == true }
        }
    }
}

extension BSONValue {
    /// Whether the value is a text of no characters, or a list that has one.
    fileprivate var holdsNoName: Bool {
        if case .array(let list) = self { list.values.contains("") } else { self == "" }
    }
}
