package import BSON
package import Checking
package import ServerSchema

/// The counts of one thread for a collection's documents, in two halves, so that a schema from one half can be tested
/// on the other.
package struct Survey: Sendable {
    private var first: PathTree
    private var second: PathTree

    /// Creates an empty survey.
    package init(_ options: InferOptions) {
        first = PathTree(limits: options.limits)
        second = first
    }

    /// The number of documents counted so far.
    package var documents: Int { first.documents + second.documents }

    /// Counts a document, in the half that its `_id` determines.
    /// - Throws: ``BSONError`` when its bytes are damaged.
    package mutating func add(_ document: borrowing BSONView) throws(BSONError) {
        if try Self.isFirst(document) { try first.add(document) } else { try second.add(document) }
    }

    /// Adds the counts of another thread.
    package mutating func merge(_ other: Survey) {
        first.merge(other.first)
        second.merge(other.second)
    }

    /// Whether a document is in the first half, which depends on neither the order nor the source of the reading.
    private static func isFirst(_ document: borrowing BSONView) throws(BSONError) -> Bool {
        let bytes: RawSpan
        if let id = try document.find("_id") {
            bytes = document.valueBytes(id)
        } else {
            bytes = document.bytes.extracting(document.start..<document.end)
        }
        // The hash is FNV-1a, whose low bits alone are too regular.
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

    /// The half for the schema that is tested on the other half, and the number of documents in that other half.
    var training: (tree: PathTree, heldOut: Int) { (first, second.documents) }
}

/// A schema for one collection, and the counts that it was made from.
package struct Inference: Sendable {
    /// The collection that the schema describes.
    package let namespace: Namespace
    /// The options that the schema was made with.
    package let options: InferOptions
    /// The number of documents that were counted.
    package let documents: Int
    /// The number of documents that were not counted for ``trained``.
    package let heldOut: Int
    /// The content of the schema file, as a document: of App Services, or `{"$jsonSchema": …}`.
    package let schema: BSONDocument
    /// The name of the client type.
    package let title: String
    /// A summary of each path.
    package let paths: [PathSummary]
    /// Whether the documents have more paths than were kept.
    package let isCrowded: Bool
    /// The schema, compiled for checking documents.
    package let compiled: CompiledSchema
    /// A schema that was made from half of the documents and accepts all of these.
    package let trained: CompiledSchema

    /// Makes a schema from the counts.
    /// - Parameters:
    ///   - title: the name of the client type; `nil` takes the collection's name.
    ///   - titles: the names of other collections' types, which the schema does not use.
    /// - Throws: ``SchemaError`` when the schema that was made cannot be read, which is a bug.
    package init(
        _ survey: Survey, of namespace: Namespace, options: InferOptions, title: String? = nil,
        titles: Set<String> = []
    ) throws(SchemaError) {
        let whole = survey.whole
        let fitter = SchemaFitter(whole, options)
        let name = TypeTitles(root: title ?? namespace.collection, reserved: titles).root
        var builder = SchemaBuilder(fitter, title: name, reserved: titles)
        schema = builder.document()
        let (half, heldOut) = survey.training
        var training = SchemaBuilder(SchemaFitter(half, options, cover: 1), title: name, reserved: titles)
        compiled = try Self.compile(schema, of: namespace)
        trained = try Self.compile(training.document(), of: namespace)
        self.namespace = namespace
        self.options = options
        self.heldOut = heldOut
        documents = whole.documents
        isCrowded = whole.isCrowded
        self.title = name
        paths = PathSummary.all(of: fitter)
    }

    /// Compiles the schema after reading it as `check` reads its file.
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
