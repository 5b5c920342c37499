package import BSON
package import LocatedYAML
import ServerSchema
import Yams

/// Readers for the settings that several kinds of steps have in common.
extension YAMLNode {
    /// Reads the path of a field that a step may read or write.
    /// - Parameter anyDepth: Whether the path may begin with `**`.
    func fieldPath(_ key: String, anyDepth: Bool = false) throws(JobError) -> FieldPath {
        try fieldPath(try text(of: "\"\(key)\""), in: key, anyDepth: anyDepth)
    }

    /// Reads the path of a field that a step only reads, which may be `_id` or inside it.
    func sourcePath(_ key: String, anyDepth: Bool = false) throws(JobError) -> FieldPath {
        try fieldPath(try text(of: "\"\(key)\""), in: key, isRead: true, anyDepth: anyDepth)
    }

    /// - Parameters:
    ///   - isRead: Whether the step only reads the field.
    ///   - anyDepth: Whether the path may begin with `**`.
    func fieldPath(
        _ text: String, in key: String, isRead: Bool = false, anyDepth: Bool = false
    ) throws(JobError) -> FieldPath {
        let path: FieldPath
        do throws(FieldPathError) { path = try FieldPath(text) } catch { throw self.error("\"\(key)\": \(error)") }
        guard isRead || path.components[0] != "_id" else {
            throw error(
                "\"\(key)\" cannot be _id: a document's primary key never changes in place. A partner collection has "
                    + "the documents under other keys (shipshape partner)")
        }
        let named = path.components.dropFirst(anyDepth && path.isOfAnyDepth ? 1 : 0)
        if let name = named.first(where: { $0 == "*" || $0 == FieldPath.anyDepth }) {
            throw error(
                "\"\(key)\": \(name) stands for no field here: \"\(FieldPath.each)\" is each element of a list or "
                    + "dictionary")
        }
        guard path.components[0] != FieldPath.each else {
            throw error("\"\(key)\": \"\(path)\" must begin with a field's name: a document is not a list")
        }
        return path
    }

    /// Reads the path of a field that can be missing; an element of a list or dictionary is refused, because it is
    /// never missing.
    func fieldPathBelowNoList(_ key: String, anyDepth: Bool = false) throws(JobError) -> FieldPath {
        let path = try fieldPath(key, anyDepth: anyDepth)
        guard path.components.last != FieldPath.each else {
            throw error("\"\(key)\": an element of a list is never missing: name a field of it, or the list")
        }
        return path
    }

    func topLevelField(_ key: String) throws(JobError) -> FieldPath {
        let path = try fieldPath(key)
        guard path.components.count == 1 else {
            throw error("\"\(key)\" must be a field of the document itself, but \"\(path)\" is a path")
        }
        return path
    }

    /// Throws if the two fields are the same, if one of them lies inside the other, or if they are not in the same
    /// element of a list or dictionary.
    ///
    /// A step whose target overlaps its source would change the value that it reads.
    func checkApart(_ from: FieldPath, _ to: FieldPath) throws(JobError) {
        guard !from.overlaps(to) else {
            throw error("\"\(from)\" and \"\(to)\" overlap: the target must be another field")
        }
        guard from.elementPath == to.elementPath else {
            throw error(
                "\"\(from)\" and \"\(to)\" are not in the same element: both must begin with the same path up to the "
                    + "last \"\(FieldPath.each)\"")
        }
    }

    /// Reads a setting that is true or false.
    func flag(_ key: String) throws(JobError) -> Bool {
        guard let flag = JobLiteral.bool(self) else { throw error("\"\(key)\" must be true or false") }
        return flag
    }

    func choice<Choice: CaseIterable & RawRepresentable<String>>(_ key: String) throws(JobError) -> Choice {
        let words = Choice.allCases.map(\.rawValue)
        guard let text = node.scalar?.string, let choice = Choice(rawValue: text) else {
            let list = words.dropLast().joined(separator: ", ") + (words.count > 1 ? " or " : "") + (words.last ?? "")
            let hint = node.scalar.flatMap { Spelling.hint(for: $0.string, among: words) }.map { " (\($0))" } ?? ""
            throw error("\"\(key)\" must be \(list)\(hint)")
        }
        return choice
    }

    /// Reads the name of a single field, which must not be a path.
    func fieldName(_ key: String) throws(JobError) -> String {
        let name = try text(of: "\"\(key)\"")
        guard let path = try? FieldPath(name), path.components == [name], name != FieldPath.each else {
            throw error("\"\(key)\" must be a field's name, without dots and without a leading $")
        }
        return name
    }

    /// Reads the name of a field in another collection's documents, which may be `_id`.
    /// - Throws: ``JobError`` if the value is not a text, or is a path or an operator.
    func ownField(_ key: String) throws(JobError) -> String {
        let name = try text(of: "\"\(key)\"")
        guard !name.contains("."), !name.hasPrefix("$") else {
            throw error("\"\(key)\" must be a field of the document itself")
        }
        return name
    }

    /// Reads the type of the IDs that a step generates, `objectId` or `uuid`.
    /// - Parameter other: A further word that the step takes under this key; `nil` for none.
    func generatedType(or other: String? = nil) throws(JobError) -> SchemaType {
        guard let type = SchemaType(rawValue: try text(of: "\"generate\"")), [.objectId, .uuid].contains(type) else {
            throw error("\"generate\" must be objectId\(other.map { ", uuid or \($0)" } ?? " or uuid")")
        }
        return type
    }

    /// Reads the name of the field that marks a document as done.
    /// - Throws: ``JobError`` if the name is a path, or if the step's target is that field or inside it.
    func marker(apartFrom target: FieldPath) throws(JobError) -> FieldPath {
        let marker = try topLevelField("once")
        guard marker.topLevel != target.topLevel else {
            throw error("\"once\" must be a field of its own, and the step writes \"\(target)\"")
        }
        return marker
    }

    /// Reads the name of a collection that a job is allowed to read or write.
    package func namespace(_ key: String) throws(JobError) -> Namespace {
        guard let namespace = Namespace(try text(of: "\"\(key)\"")) else {
            throw error("\"\(key)\" must be DATABASE.COLLECTION")
        }
        if let reason = namespace.refusal(), !JobFile.isOfThePast {
            throw error("\"\(key)\" cannot be \(namespace): \(reason)")
        }
        return namespace
    }
}
