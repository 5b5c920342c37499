package import BSON
package import Checking
package import ServerSchema

/// The counts of a collection's documents; each thread makes its own counts, which are then merged.
///
/// The documents are counted in two halves, so that a schema made from one half can be tested on the other half.
package struct Survey: Sendable {
    private var first: PathTree
    private var second: PathTree

    package init(_ options: InferOptions) {
        first = PathTree(limits: options.limits)
        second = first
    }

    /// The number of documents counted so far.
    package var documents: Int { first.documents + second.documents }

    /// Counts a document in one of the survey's two halves; the document's `_id` determines the half.
    /// - Throws: ``BSONError`` when the document's bytes are damaged, or when it is nested too deeply.
    package mutating func add(_ document: borrowing BSONView) throws(BSONError) {
        if try Self.isFirst(document) { try first.add(document) } else { try second.add(document) }
    }

    /// Adds the counts that another thread made.
    package mutating func merge(_ other: Survey) {
        first.merge(other.first)
        second.merge(other.second)
    }

    /// Whether a document is counted in ``first``; a hash of its `_id`, or of the whole document without one, decides.
    ///
    /// The order and the source of the documents thus make no difference.
    private static func isFirst(_ document: borrowing BSONView) throws(BSONError) -> Bool {
        let bytes: RawSpan
        if let id = try document.find("_id") {
            bytes = document.valueBytes(id)
        } else {
            bytes = document.bytes.extracting(document.start..<document.end)
        }
        // The hash is FNV-1a. Its low bits alone are too regular, so the parity of bits from all positions decides.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for index in 0..<bytes.byteCount {
            hash = (hash ^ UInt64(unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self))) &* 0x0100_0000_01B3
        }
        return (hash ^ hash >> 31 ^ hash >> 17).nonzeroBitCount.isMultiple(of: 2)
    }

    /// The counts of both halves together.
    var whole: PathTree {
        var tree = first
        tree.merge(second)
        return tree
    }

    /// The counts of the first half, from which the schema to test is made, and the number of documents in the other
    /// half.
    var training: (tree: PathTree, heldOut: Int) { (first, second.documents) }
}

/// A schema for one collection, and the counts that it was made from.
package struct Inference: Sendable {
    /// The collection that the schema describes.
    package let namespace: Namespace
    /// The options that the schema was made with.
    package let options: InferOptions
    package let documents: Int
    /// The number of documents in the half from which ``trained`` was not made.
    package let heldOut: Int
    /// The content of the schema file: an App Services schema, or a validator `{"$jsonSchema": …}`; empty for Prisma.
    package let schema: BSONDocument
    /// The model with its types and enums; `nil` in other dialects.
    package let prisma: PrismaSchema?
    /// The name of the documents' type in the client.
    package let title: String
    package let paths: [PathSummary]
    /// Whether the documents have more paths than the survey could keep, so that it combined paths.
    package let isCrowded: Bool
    package let compiled: CompiledSchema
    /// A schema that was made from one half of the documents.
    ///
    /// It is made to accept all documents of that half, even if ``InferOptions/cover`` asks for a smaller share.
    package let trained: CompiledSchema

    /// Makes a schema from the counts of a survey.
    /// - Parameters:
    ///   - title: the name of the documents' type in the client; with `nil`, it is made from the collection's name.
    ///   - titles: the names of other collections' types, which the schema must not use.
    ///   - indexes: the descriptions of the collection's indexes, as `listIndexes` has them; a Prisma model gets them.
    /// - Throws: ``SchemaError`` when the schema that was made cannot be read, which is a bug.
    package init(
        _ survey: Survey, of namespace: Namespace, options: InferOptions, title: String? = nil,
        titles: Set<String> = [], indexes: [BSONDocument] = []
    ) throws(SchemaError) {
        let whole = survey.whole
        let fitter = SchemaFitter(whole, options)
        let isOfPrisma = options.dialect == .prisma
        let name = TypeTitles(
            root: title ?? namespace.collection, reserved: titles, isPascalCase: isOfPrisma
        ).root
        let (half, heldOut) = survey.training
        let training = SchemaFitter(half, options, cover: 1)
        if isOfPrisma {
            var model = PrismaBuilder.schema(fitter, of: namespace.collection, title: name, reserved: titles)
            model.addIndexes(indexes)
            (schema, prisma) = ([:], model)
            compiled = try Self.compile(model, of: namespace)
            trained = try Self.compile(
                PrismaBuilder.schema(training, of: namespace.collection, title: name, reserved: titles), of: namespace)
        } else {
            var builder = SchemaBuilder(fitter, title: name, reserved: titles)
            (schema, prisma) = (builder.document(), nil)
            var trainer = SchemaBuilder(training, title: name, reserved: titles)
            compiled = try Self.compile(schema, of: namespace)
            trained = try Self.compile(trainer.document(), of: namespace)
        }
        self.namespace = namespace
        self.options = options
        self.heldOut = heldOut
        documents = whole.documents
        isCrowded = whole.isCrowded
        self.title = name
        paths = PathSummary.all(of: fitter)
    }

    private static func compile(_ schema: PrismaSchema, of namespace: Namespace) throws(SchemaError) -> CompiledSchema {
        let file = SchemaSource(path: "the schema of \(namespace)", text: schema.text)
        let read = try PrismaSchema(files: [file]).serverSchema(database: namespace.database)
        return CompiledSchema(read.collections[0], of: read)
    }

    /// Writes the schema as text, reads it as `check` reads a schema file, and compiles it.
    private static func compile(_ schema: BSONDocument, of namespace: Namespace) throws(SchemaError) -> CompiledSchema {
        let text: String
        do throws(BSONError) {
            text = try schema.extendedJSON(.relaxed)
        } catch {
            throw SchemaError(
                .wrongValue, at: SourceLocation(whole: "the schema of \(namespace)"), "it cannot be written: \(error)")
        }
        let read = try ServerSchema.read(text: text, namespace: namespace)
        return CompiledSchema(read.collections[0], of: read)
    }
}
