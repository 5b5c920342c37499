package import BSON
package import Checking
package import ServerSchema

/// What one thread counted of a collection's documents: in two halves, so that what one of them does not know can be
/// measured on the other.
package struct Survey: Sendable {
    private var first: PathTree
    private var second: PathTree

    /// Starts with nothing counted.
    package init(_ options: InferOptions) {
        first = PathTree(limits: options.limits)
        second = first
    }

    /// The documents counted so far.
    package var documents: Int { first.documents + second.documents }

    /// Counts a document, in the half that its `_id` decides.
    /// - Throws: ``BSONError`` when its bytes are damaged.
    package mutating func add(_ document: borrowing BSONView) throws(BSONError) {
        if try Self.isFirst(document) { try first.add(document) } else { try second.add(document) }
    }

    /// Adds what another thread counted.
    package mutating func merge(_ other: Survey) {
        first.merge(other.first)
        second.merge(other.second)
    }

    /// A document is in the same half in whatever order, and from whatever source, it is read.
    private static func isFirst(_ document: borrowing BSONView) throws(BSONError) -> Bool {
        let bytes: RawSpan
        if let id = try document.find("_id") {
            bytes = document.valueBytes(id)
        } else {
            bytes = document.bytes.extracting(document.start..<document.end)
        }
        // FNV-1a, whose low bits alone are too regular.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for index in 0..<bytes.byteCount {
            hash = (hash ^ UInt64(unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self))) &* 0x0100_0000_01B3
        }
        return (hash ^ hash >> 31 ^ hash >> 17).nonzeroBitCount.isMultiple(of: 2)
    }

    /// Both halves.
    var whole: PathTree {
        var tree = first
        tree.merge(second)
        return tree
    }

    /// The half that the bound for other documents is measured by, and how many documents the other half has.
    var training: (tree: PathTree, heldOut: Int) { (first, second.documents) }
}

/// A schema for one collection, and what it was made from.
package struct Inference: Sendable {
    /// The collection.
    package let namespace: Namespace
    /// How it was made.
    package let options: InferOptions
    /// The documents that were counted.
    package let documents: Int
    /// The documents that were not counted for ``trained``.
    package let heldOut: Int
    /// The schema's file, as a document: of App Services, or `{"$jsonSchema": …}`.
    package let schema: BSONDocument
    /// The name of the clients' type.
    package let title: String
    /// What was found at each path, and what the schema says of it.
    package let paths: [PathSummary]
    /// Whether more paths were met than are kept.
    package let isCrowded: Bool
    /// What documents are checked against: the schema.
    package let compiled: CompiledSchema
    /// A schema for half of the documents that accepts all of those.
    package let trained: CompiledSchema

    /// Makes a schema from what was counted.
    /// - Parameters:
    ///   - title: the name of the clients' type; that of the collection by default.
    ///   - titles: the names of other collections' types.
    /// - Throws: ``SchemaError`` when what was made cannot be read, which is a bug.
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

    /// Reads the schema as `check` reads its file.
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
