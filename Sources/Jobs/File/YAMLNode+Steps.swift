package import BSON
import LocatedYAML
import ServerSchema
import Yams

/// What the keys of steps have in common.
extension YAMLNode {
    /// The path of a field that a step may read or write.
    func fieldPath(_ key: String) throws(JobError) -> FieldPath {
        try fieldPath(try text(of: "\"\(key)\""), in: key)
    }

    /// The path that a text names which is part of the value of `key`.
    func fieldPath(_ text: String, in key: String) throws(JobError) -> FieldPath {
        let path: FieldPath
        do throws(FieldPathError) { path = try FieldPath(text) } catch { throw self.error("\"\(key)\": \(error)") }
        guard path.components[0] != "_id" else {
            throw error("\"\(key)\" cannot be _id: a document's primary key never changes in place")
        }
        guard path.components[0] != FieldPath.each else {
            throw error("\"\(key)\": \"\(path)\" must begin with a field's name: a document is no list")
        }
        return path
    }

    /// The path of a field that can be missing: what a list holds cannot.
    func fieldPathBelowNoList(_ key: String) throws(JobError) -> FieldPath {
        let path = try fieldPath(key)
        guard path.components.last != FieldPath.each else {
            throw error("\"\(key)\": an element of a list is always there: name a field of it, or the list")
        }
        return path
    }

    /// The path of a field that is reached through objects alone.
    func fieldPathThroughObjects(_ key: String) throws(JobError) -> FieldPath {
        let path = try fieldPath(key)
        guard !path.leadsIntoElements else {
            throw error("\"\(key)\": this step does not reach into the elements of lists and dictionaries")
        }
        return path
    }

    /// The name of a field of the document itself.
    func topLevelField(_ key: String) throws(JobError) -> FieldPath {
        let path = try fieldPath(key)
        guard path.components.count == 1 else {
            throw error("\"\(key)\" must be a field of the document itself, and \"\(path)\" is a path")
        }
        return path
    }

    /// Refuses a target inside the source, or the other way round, which would change what the step reads; and two
    /// fields that do not stand in the same element.
    func checkApart(_ from: FieldPath, _ to: FieldPath) throws(JobError) {
        guard !from.overlaps(to) else {
            throw error("\"\(from)\" and \"\(to)\" overlap: the target must be another field")
        }
        guard from.elementPath == to.elementPath else {
            throw error(
                "\"\(from)\" and \"\(to)\" do not stand in the same element: both must begin with the same path up to the "
                    + "last \"\(FieldPath.each)\"")
        }
    }

    /// One of a few words.
    func choice<Choice: CaseIterable & RawRepresentable<String>>(_ key: String) throws(JobError) -> Choice {
        let words = Choice.allCases.map(\.rawValue)
        guard let text = node.scalar?.string, let choice = Choice(rawValue: text) else {
            let list = words.dropLast().joined(separator: ", ") + (words.count > 1 ? " or " : "") + (words.last ?? "")
            let hint = node.scalar.flatMap { Spelling.hint(for: $0.string, among: words) }.map { " (\($0))" } ?? ""
            throw error("\"\(key)\" must be \(list)\(hint)")
        }
        return choice
    }

    /// A name of a field, as it stands in a document.
    func fieldName(_ key: String) throws(JobError) -> String {
        let name = try text(of: "\"\(key)\"")
        guard let path = try? FieldPath(name), path.components == [name], name != FieldPath.each else {
            throw error("\"\(key)\" must be a field's name, without dots and without a $ in front")
        }
        return name
    }
}

extension FieldPath {
    /// Whether one is the other, or stands inside it.
    package func overlaps(_ other: FieldPath) -> Bool { zip(components, other.components).allSatisfy { $0 == $1 } }
}
