import BSON
import SchemaChange
import ServerSchema

/// A step that the user states on the command line, because the two schemas do not show the intention.
///
/// The flag's value names fields of the older schema before `=`, and fields of the newer schema after it. The first
/// name begins with the title of the type or the name of the collection. The other fields are in the same object.
package struct StatedStep: Hashable, Sendable {
    package enum Kind: String, Sendable {
        /// Several fields become one text, as in `Person.firstName,lastName=fullName`.
        case combine
        /// One text becomes several fields, as in `Person.name=firstName,lastName`.
        case split
        /// The documents that a field links to become embedded objects, as in `Person.pet`.
        case embed
    }

    let kind: Kind
    private let text: String
    private let sources: [String]
    private let targets: [String]

    /// Reads the value of the flag; `nil` if the value does not have the form that ``Kind`` shows for this kind.
    package init?(_ kind: Kind, _ text: String) {
        let sides = text.split(separator: "=", omittingEmptySubsequences: false).map {
            $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        (self.kind, self.text) = (kind, text)
        (sources, targets) = (sides[0], sides.count == 2 ? sides[1] : [])
        let isOfForm =
            switch kind {
            case .combine: sources.count > 1 && targets.count == 1
            case .split: sources.count == 1 && targets.count > 1
            case .embed: sides == [[text]]
            }
        guard isOfForm, sides.count <= 2, !(sources + targets).contains("") else { return nil }
    }

    /// Returns the value of the flag `--combine` or `--split`, as a plan suggests it.
    /// - Parameters:
    ///   - sources: the paths of the older fields, which are in one object.
    ///   - targets: the paths of the newer fields.
    static func text(_ sources: [SchemaPath], of namespace: Namespace, into targets: [SchemaPath]) -> String {
        func names(_ paths: some Sequence<SchemaPath>) -> [String] {
            paths.map { "\(SchemaPath([$0.steps[$0.steps.count - 1]]))" }
        }
        let old = ["\(namespace).\(sources[0])"] + names(sources.dropFirst())
        return "\(old.joined(separator: ","))=\(names(targets).joined(separator: ","))"
    }
}

extension StatedStep {
    /// A stated step whose fields were found in the schemas.
    struct Found {
        let kind: Kind
        /// The flag with its value, for remarks.
        let flag: String
        /// The paths of the older fields, as job files write them; for ``Kind/embed``, the path of the field.
        let sources: [String]
        /// The changes that add the new fields or, for ``Kind/embed``, the change of the field.
        let changes: [SchemaChange]
    }

    private var flag: String { "--\(kind.rawValue) \(text)" }

    /// Finds the fields of the step.
    /// - Parameter changes: the changes from the older to the newer schema.
    /// - Throws: ``PlanError`` when a field is missing or does not suit the step.
    func found(in changes: [SchemaChange], from old: ServerSchema) throws(PlanError) -> Found {
        let field = StatedField(sources[0], flag: flag)
        let first = try field.place(in: old, named: "older")
        let own = changes.filter { $0.oldNamespace == first.collection.namespace }
        guard kind != .embed else {
            guard let change = own.first(where: { $0.code == .embeddingChanged && $0.oldPath == first.path }),
                change.old?.link != nil, let path = change.path.jobPath
            else { throw field.error("the field holds no links that become embedded objects in the newer schema") }
            return Found(kind: kind, flag: flag, sources: [path], changes: [change])
        }
        let holder = first.path.holder
        let names = [String(sources[0])] + sources.dropFirst()
        var paths: [String] = []
        for (index, name) in names.enumerated() {
            let path = index == 0 ? first.path : holder.appending(.field(try Self.name(name, field)))
            guard let node = first.collection.root.node(at: path) else {
                let fields = first.collection.root.node(at: holder)?.properties.map(\.name) ?? []
                let hint = Spelling.hint(for: name, among: fields).map { " (\($0))" } ?? ""
                throw field.error("the older schema has no field \"\(name)\" next to \(first.path)\(hint)")
            }
            guard let place = path.jobPath, kind == .split ? Self.isText(node) : Self.isPart(node) else {
                let kinds = kind == .split ? "a text" : "texts and whole numbers"
                throw field.error("\(path) is \(node.expectation()), and the step reads \(kinds)")
            }
            paths.append(place)
        }
        var added: [SchemaChange] = []
        for target in targets {
            let path = holder.appending(.field(try Self.name(target, field)))
            let next = own.filter { [.requiredAdded, .optionalAdded].contains($0.code) }
            guard let change = next.first(where: { $0.oldPath == path }), let node = change.new?.node else {
                let hint = Spelling.hint(for: "\(path)", among: next.map { "\($0.oldPath)" }).map { " (\($0))" } ?? ""
                throw field.error("the newer schema adds no field \"\(path)\"\(hint)")
            }
            guard Self.isText(node) else {
                throw field.error("the step makes texts, and \(path) is \(node.expectation())")
            }
            added.append(change)
        }
        return Found(kind: kind, flag: flag, sources: paths, changes: added)
    }

    private static func name(_ text: String, _ field: StatedField) throws(PlanError) -> String {
        let names = StatedField.names(of: text[...])
        guard names.count == 1, let name = names.first, name != FieldPath.each else {
            throw field.error("\"\(text)\" is not the name of a field in the object of the first one")
        }
        return name
    }

    /// Whether a field is a text for which the schema has no list of allowed values.
    ///
    /// The planner splits only such a text, and fills only such a text by splitting or combining other fields.
    static func isText(_ node: SchemaNode) -> Bool {
        node.withoutNull.types == [.string] && node.constraints.allowedValues == nil
    }

    /// Whether a field's value can become a part of a combined text: a text or a whole number.
    static func isPart(_ node: SchemaNode) -> Bool {
        let types: Set<SchemaType> = [.string, .int, .long]
        return node.withoutNull.types.first.map { types.contains($0) } ?? false
    }
}
