package import BSON
import Checking
package import ServerSchema

/// Counts the documents that unique indexes would refuse, among documents that are not stored in this form, such as
/// those that a job makes.
package struct UniqueCensus {
    /// Documents that an index would refuse.
    package struct Refusal: Sendable {
        package let key: UniqueKey
        /// The number of documents with a value that another one has, without one of each value.
        package let documents: Int
        /// A few of the documents with such values.
        package let ids: [BSONValue]
    }

    /// The names of the indexes that only the server judges, because of a collation or a filter.
    package let unjudged: [String]
    private let schema: CompiledSchema
    private let log: UniqueLog?
    private let options = ScanOptions()

    package init(_ keys: [UniqueKey], of namespace: Namespace) {
        let judged = keys.filter { !$0.needsServer && $0.unjudged == nil }
        unjudged = keys.filter { !judged.contains($0) }.map(\.name)
        schema = CompiledSchema(CollectionSchema(judged, of: namespace))
        log = UniqueLog(schema, options: options)
    }

    /// Adds a document.
    /// - Throws: ``BSONError`` if its bytes are damaged.
    package func add(_ document: borrowing BSONView) throws(BSONError) {
        try log?.add(document, CountedVerdicts(bits: 0))
    }

    /// Returns the refusals of each index that has some.
    /// - Throws: ``TemporaryFileError``, or ``BSONError`` for a damaged record.
    package func refusals() throws -> [Refusal] {
        guard let log else { return [] }
        var tally = options.makeTally(schema)
        try UniqueSearch(logs: [log], options: options).count(in: &tally)
        let groups = tally.violationGroups
        return schema.uniqueKeys.enumerated().compactMap { number, key in
            let equal = [UniqueFault.duplicate, .null].map { tally[equalKeys: $0, of: number] }
            let documents = groups.documents(refusedBy: key) - equal.reduce(0) { $0 + $1.values }
            guard documents > 0 else { return nil }
            return Refusal(key: key, documents: documents, ids: equal.flatMap(\.largest).flatMap(\.ids))
        }
    }
}

extension UniqueKey {
    /// Reads the description of an index, as `listIndexes` has it; `nil` for an index that is not unique, and for that
    /// of `_id`.
    package init?(index: BSONDocument, of collection: String) {
        guard index["unique"]?.isTrue == true, let name = index["name"]?.text,
            let paths = try? index["key"]?.document?.elements().map(\.name)
        else { return nil }
        self.init(paths: paths, name: name, of: collection, location: SourceLocation(whole: name))
        isSparse = index["sparse"]?.isTrue ?? false
        collation = index["collation"]?.document
        filter = index["partialFilterExpression"]?.document
    }
}
