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
            "create a partial index in its place, which accepts documents without the value (mongosh: "
            + "\(partial(key)))"
        guard finding.violation.rule == .uniqueDuplicate else {
            let isOptional = key.paths.contains { self.field(at: $0)?.isRequired != true }
            return "give each document a value of its own, because in this index null and missing count as one value"
                + (isOptional ? "; or \(partial)" : "")
        }
        guard key.paths.count == 1 else {
            return "several documents share the values of this index: change one of the values in all but one of them"
        }
        guard let node, node.withoutNull.types == [.string], !field.contains(FieldPath.each) else {
            return "a step makes new values only of texts outside lists: correct all but one document of each value"
        }
        let older = finding.equalKeys?.older ?? []
        guard !older.isEmpty, finding.equalKeys?.isWhole == true else {
            return "more documents share values than the check keeps by _id (\(EqualKeys.mostOlder.grouped)): correct "
                + "all but one document of each value with a program of your own"
        }
        let value = YAMLText.word("$\(field)")
        let end = "{$concat: [\"-\", {$toString: $_id}]}"
        let start = "{$max: [0, {$subtract: [{$strLenCP: \(value)}, {$strLenCP: \(end)}]}]}"
        let isOwn = "{$gte: [{$indexOfCP: [\(value), \(end), \(start)]}, 0]}"
        let isText = "{$eq: [{$type: \(value)}, string]}"
        var numbered = expression(
            field, "{$concat: [\(value), \"-\", {$toString: $_id}]}",
            when: "{$cond: [\(isText), {$not: [\(isOwn)]}, false]}")
        var removal = StepLine.plain("unset", field)
        let condition: BSONDocument = ["_id": ["$in": .array(of: older)]]
        (numbered.condition, removal.condition) = (condition, condition)
        part.add(
            numbered, "the newest document of each value, by _id, keeps it",
            review: "whether the values may end in the _id; otherwise correct them. Check again after the job, because "
                + "a new value may be that of another document")
        guard self.field(at: key.paths[0])?.isRequired == false else { return nil }
        part.entries[0].suggestions = [removal]
        part.entries[0].remarks.append(
            "or let this step remove the value from the same documents"
                + (key.isSparse ? "" : ", and, because null and missing count as one value, \(partial)"))
        return nil
    }

    /// Returns the field at a path of names, which may lead through lists; `nil` if the schema does not describe it.
    private func field(at path: String) -> (node: SchemaNode, isRequired: Bool)? {
        var found = (node: fields.new.root, isRequired: true)
        for name in path.split(separator: ".").map(String.init) {
            if case .each(let element)? = found.node.items { found.node = element }
            guard let node = found.node.property(name) else { return nil }
            found = (node, found.node.requires(name))
        }
        return found
    }

    /// Returns the command that creates a partial index for the documents that have a value at each path.
    private func partial(_ key: UniqueKey) -> String {
        func text(_ members: [(String, BSONValue)]) -> String {
            (try? BSONDocument(members).extendedJSON(.relaxed)) ?? "{}"
        }
        let filter = key.paths.map { path -> (String, BSONValue) in
            let names = Self.names(of: field(at: path)?.node).map { BSONValue.string($0) }
            return (path, ["$type": names.count == 1 ? names[0] : .array(of: names)])
        }
        let options: [(String, BSONValue)] = [
            ("unique", true), ("name", .string(key.name)), ("partialFilterExpression", .object(BSONDocument(filter))),
        ]
        let collation = key.collation.map { [("collation", BSONValue.object($0))] } ?? []
        let collection = YAMLText.literal(.string(fields.new.namespace.collection))
        return "db.getCollection(\(collection)).createIndex(\(text(key.paths.map { ($0, 1) })), "
            + "\(text(options + collation)))"
    }

    /// Returns the types, as a filter names them, of the values that fit a schema, without null.
    ///
    /// A partial index accepts `$exists: true`, which includes null, but no `$ne`; a list of types excludes null.
    private static func names(of node: SchemaNode?) -> [String] {
        var types = node.map { ($0.isPrismaEnum ? nil : $0.scalar?.readTypes) ?? $0.types } ?? []
        types.removeAll { $0 == .null }
        if types.isEmpty || types.contains(.mixed) { types = SchemaType.allCases.filter { $0 != .undefined } }
        let numeric: Set<SchemaType> = [.int, .long, .double, .decimal, .number]
        let others = types.filter { !numeric.contains($0) && ![.null, .mixed, .uuid].contains($0) }.map(\.rawValue)
        return (types.contains(where: numeric.contains) ? ["number"] : []) + others
    }
}
