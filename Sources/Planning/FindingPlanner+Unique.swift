import BSON
import Checking
import Jobs
import SchemaChange
import ServerSchema

/// Proposals for documents that a unique index refuses; none of them removes a document.
extension FindingPlanner {
    /// Adds the steps for documents that share values in a unique index, or a text that says what can be done.
    ///
    /// If the check knows all of the documents, those other than the newest of each value get a value of their own, by
    /// their `_id`s. A reviewer has to confirm that.
    /// - Returns: the reason why no step was added; `nil` if a step was added.
    func plan(
        _ key: UniqueKey, of finding: ViolationGroup, _ field: String, _ node: SchemaNode?, in part: inout FieldGroup
    ) -> String? {
        if finding.violation.rule == .uniqueArrays {
            return "no index accepts lists at two of its paths: create one index for each of them"
        }
        let partial =
            "or create a partial index in its place, which accepts documents without the value (mongosh: "
            + "\(Self.partial(key, of: fields.new.namespace, node)))"
        guard key.paths.count == 1, finding.violation.rule == .uniqueDuplicate else {
            let cause =
                finding.violation.rule == .uniqueNull ? "null and missing count as one value" : "several share one"
            return "give each document a value of its own, because in this index \(cause); \(partial)"
        }
        let older = finding.equalKeys?.older ?? []
        guard let node, node.withoutNull.types == [.string], !field.contains(FieldPath.each), !older.isEmpty,
            finding.equalKeys?.isWhole == true
        else { return "only you know which documents keep the value: correct the others, \(partial)" }
        let value = YAMLText.word("$\(field)")
        let isOwn = "{$gte: [{$indexOfCP: [\(value), {$toString: $_id}]}, 0]}"
        let isText = "{$eq: [{$type: \(value)}, string]}"
        var numbered = expression(
            field, "{$concat: [\(value), \"-\", {$toString: $_id}]}",
            when: "{$cond: [\(isText), {$not: [\(isOwn)]}, false]}")
        var removal = StepLine.plain("unset", field)
        let condition: BSONDocument = ["_id": ["$in": .array(of: older)]]
        (numbered.condition, removal.condition) = (condition, condition)
        part.add(numbered, "the newest document of each value, by _id, keeps it")
        part.entries[0].review = "whether the values may end in the _id; otherwise correct them"
        part.entries[0].suggestions = [removal]
        part.entries[0].remarks.append(
            "or, if the field may be missing, let this step remove the value from the same documents, \(partial)")
        return nil
    }

    /// Returns the command that creates a partial index for the values of the declared types.
    private static func partial(_ key: UniqueKey, of namespace: Namespace, _ node: SchemaNode?) -> String {
        let types = node.map { $0.withoutNull.types.map(\.rawValue) } ?? []
        let type: BSONValue = types.count == 1 ? .string(types[0]) : .array(of: types.map { .string($0) })
        let filter: BSONValue = types.isEmpty ? ["$exists": true] : ["$type": type]
        func text(_ members: [(String, BSONValue)]) -> String { YAMLText.literal(.object(BSONDocument(members))) }
        let options = text([
            ("unique", true), ("name", .string(key.name)),
            ("partialFilterExpression", .object(BSONDocument(key.paths.prefix(1).map { ($0, filter) }))),
        ])
        let collection = YAMLText.literal(.string(namespace.collection))
        return "db.getCollection(\(collection)).createIndex(\(text(key.paths.map { ($0, 1) })), \(options))"
    }
}
