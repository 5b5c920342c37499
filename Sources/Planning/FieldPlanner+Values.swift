import BSON
import Jobs
import SchemaChange
import ServerSchema

/// Steps for values whose type or shape changes.
extension FieldPlanner {
    /// Adds the steps that make the values at a path fit the schema `new`.
    /// - Parameters:
    ///   - old: the schema that the values fit now; `nil` if the older schema does not describe them.
    ///   - isStray: whether the steps are only for values that do not follow the older schema.
    func fit(
        _ field: String, at path: SchemaPath, _ old: SchemaNode?, _ new: SchemaNode, _ link: Relationship?,
        in group: inout FieldGroup, isStray: Bool
    ) {
        let after = Shape(ofValue: new)
        guard let old else {
            switch after {
            case .single: convert(field, from: nil, to: new, link, in: &group, isStray: isStray)
            case .embedded: fitFields(field, at: path, of: new, in: &group, isStray: isStray)
            case .list, .set, .dictionary: fitInner(field, at: path, nil, new, in: &group, isStray: isStray)
            }
            return
        }
        if old.isTuple || new.isTuple {
            return group.say(.manual, "no step converts elements that the schema describes by their position")
        }
        switch (Shape(ofValue: old), after) {
        case (.single, .single) where dialect == .prisma && old.isRead(asIsBy: new):
            guard old.reads(.double), !new.reads(.double), let type = new.types.first else { return }
            let remark = "the shell writes numbers as doubles, which the newer client does not read"
            group.add(.convert(field, from: nil, to: type, keeping: kept(by: new)), remark, isStray: true)
        case (.single(let before), .single):
            convert(field, from: before, to: new, link, in: &group, isStray: isStray)
        case (.list, .set):
            fitInner(field, at: path, old.inner, new, in: &group, isStray: isStray)
            group.add(.plain("dedupe", field), "a set holds each value once: the first one stays")
        case (.list, .list), (.set, .set), (.set, .list), (.dictionary, .dictionary):
            fitInner(field, at: path, old.inner, new, in: &group, isStray: isStray)
        case (.embedded, .dictionary):
            fitInner(field, at: path, nil, new, in: &group, isStray: isStray)
        case (.dictionary, .embedded), (.embedded, .embedded):
            fitFields(field, at: path, of: new, in: &group, isStray: isStray)
        case (.single, .list), (.single, .set), (.embedded, .list), (.embedded, .set):
            group.add(.plain("wrap", field), "each value becomes a list of one", isStray: isStray)
            fitInner(field, at: path, old, new, in: &group, isStray: isStray)
        case (.single, .dictionary):
            let line = StepLine("wrap", ["field": .text(field), "under": .text("value")])
            group.add(line, "each value becomes a dictionary of one", review: "the key", isStray: isStray)
            fitInner(field, at: path, old, new, in: &group, isStray: isStray)
        case (.list, .single), (.set, .single), (.list, .embedded), (.set, .embedded):
            unwrap(field, at: path, old, new, link, in: &group)
        default:
            group.say(
                .manual,
                "no step makes \(new.expectation()) from \(old.expectation()): write an \"expression\" step of your "
                    + "own\(orPartner)", isForPartner: true)
        }
    }

    private func fitInner(
        _ field: String, at path: SchemaPath, _ old: SchemaNode?, _ new: SchemaNode, in group: inout FieldGroup,
        isStray: Bool
    ) {
        guard let inner = new.inner else { return }
        let place = path.appending(Shape(ofValue: new).isArray ? .elements : .values)
        let link = self.new.link(from: place)
        if let old, Self.isSame(old, inner) { return }
        fit("\(field)\(FieldPath.each)", at: place, old, inner, link, in: &group, isStray: isStray)
        if old?.takesNull(in: .jsonSchema) ?? !isStray, !inner.takesNull(in: .jsonSchema) {
            group.add(.plain("drop-nulls", field), "no element may be null", isStray: isStray)
        }
    }

    /// Adds a step that removes nulls from a list or a dictionary whose elements or values must no longer be null.
    ///
    /// Does nothing if the path does not lead to the elements of a list or the values of a dictionary.
    func dropNulls(at path: SchemaPath, _ old: SchemaNode, _ new: SchemaNode, in group: inout FieldGroup) {
        guard [.elements, .values].contains(path.steps.last), let field = path.holder.jobPath,
            old.takesNull(in: .jsonSchema), !new.takesNull(in: .jsonSchema)
        else { return }
        group.add(.plain("drop-nulls", field), "no element may be null")
    }

    private static func isSame(_ old: SchemaNode, _ new: SchemaNode) -> Bool {
        guard case .single = Shape(ofValue: new) else { return false }
        return Set(old.types) == Set(new.types)
    }

    private func fitFields(
        _ field: String, at path: SchemaPath, of new: SchemaNode, in group: inout FieldGroup, isStray: Bool
    ) {
        for property in new.properties {
            let place = path.appending(.field(property.name))
            guard let name = SchemaPath([.field(property.name)]).jobPath else { continue }
            let side = Side(
                node: property.node, isRequired: new.requires(property.name),
                link: self.new.link(from: place))
            let start = group.entries.count
            fit("\(field).\(name)", at: place, nil, property.node, side.link, in: &group, isStray: isStray)
            if side.isRequired || dialect == .jsonSchema { fill("\(field).\(name)", at: place, nil, side, in: &group) }
            for index in group.entries.indices.dropFirst(start) where isStray && group.entries[index].role == .step {
                group.entries[index].isStray = true
            }
        }
    }

    /// Adds steps that replace a list of one element by the element, and an empty list by null.
    ///
    /// An empty list inside another list or a dictionary stays.
    private func unwrap(
        _ field: String, at path: SchemaPath, _ old: SchemaNode, _ new: SchemaNode, _ link: Relationship?,
        in group: inout FieldGroup
    ) {
        let empty = StepLine(
            "expression",
            [
                "field": .text(field), "value": .literal(.null),
                "when": .verbatim("{$eq: [\(YAMLText.word("$\(field)")), []]}"),
            ])
        if !field.contains(FieldPath.each) {
            group.add(empty, Self.emptyList)
        }
        group.add(.plain("unwrap", field), "a list of one becomes its value; longer lists are reported and skipped")
        if let inner = old.inner, Self.isSame(inner, new) { return }
        fit(field, at: path, old.inner, new, link, in: &group, isStray: false)
    }

    /// The clause at the end of a remark that recommends a partner collection; empty if none may be recommended.
    private var orPartner: String { hasPartners ? ", or use a partner collection" : "" }

    static let emptyList = "an empty list has no value: null replaces it"

    /// Returns the types that a step `convert` skips, because a Prisma client with the schema `new` reads their values
    /// and finds them in queries.
    /// - Parameter old: the types of the values that the step converts; the result does not contain them.
    private func kept(by new: SchemaNode, except old: Set<SchemaType> = []) -> Set<SchemaType> {
        guard dialect == .prisma, let scalar = new.scalar, !new.isPrismaEnum else { return [] }
        return Set(scalar.readTypes.filter(new.finds)).subtracting(old)
    }

    private func convert(
        _ field: String, from old: Set<SchemaType>?, to new: SchemaNode, _ link: Relationship?,
        in group: inout FieldGroup, isStray: Bool
    ) {
        let targets = Set(new.withoutNull.types).subtracting([.null])
        if targets.isEmpty || targets.contains(.mixed) { return }
        let rest =
            old.map { $0.isEmpty || $0.contains(.mixed) ? nil : Self.widened($0).subtracting(Self.widened(targets)) }
            ?? nil
        if let rest, rest.subtracting([.null]).isEmpty { return }
        // If no step can convert values to the type of the newer schema, a remark says so. The remark is left out if
        // only values that do not follow the older schema (`isStray`) would need a step. Such values are rare, because
        // clients cannot name a field that the older schema does not declare.
        guard targets.count == 1, let target = targets.first, Conversion.reaches(target) else {
            if !isStray {
                group.say(
                    .manual,
                    "no step makes \(Self.words(targets)) from \(Self.words(rest ?? [])): add a field with another "
                        + "name and fill it from your application\(orPartner)",
                    isForPartner: true)
            }
            return
        }
        if let rest, !rest.contains(where: { Conversion.leads(from: $0, to: target) || $0 == .null }) {
            return group.say(
                .manual,
                "no conversion leads from \(Self.words(rest)) to \(target.rawValue): add a field with another name and "
                    + "fill it from your application\(orPartner)",
                isForPartner: true)
        }
        if let link, !isStray, let keys = keyTypes[link.target], keys.old == keys.new {
            return group.say(
                .manual,
                "these are keys of \(link.target), whose _id keeps its type: converted keys would match no document. "
                    + "Convert them only together with that _id, with a partner collection of \(link.target), or keep "
                    + "the type",
                suggesting: [.convert(field, from: old, to: target)])
        }
        let hadNumbers = !Self.widened(old ?? []).isDisjoint(with: [.int, .long, .double, .decimal])
        let ofTimes = "numbers are read as milliseconds since 1970; for seconds, add \"unit: seconds\""
        group.add(
            .convert(field, from: old, to: target, keeping: kept(by: new, except: old ?? [])),
            isStray ? "in case documents already have values of another type there" : nil,
            review: target == .date && hadNumbers ? ofTimes : nil, isStray: isStray)
        guard let link, !isStray else { return }
        let remap = StepLine(
            "map",
            ["field": .text(field), "values": .verbatim("[{from: OLD KEY, to: NEW KEY}]")])
        let last = group.entries.count - 1
        group.entries[last].remarks.append(
            "these are keys of \(link.target): right only if its documents get their new keys by the same conversion; "
                + "otherwise write the table of old and new keys instead")
        group.entries[last].suggestions = [remap]
    }

    private static func widened(_ types: Set<SchemaType>) -> Set<SchemaType> {
        types.contains(.number) ? types.union([.int, .long, .double, .decimal]) : types
    }

    private static func words(_ types: Set<SchemaType>) -> String {
        types.isEmpty ? "any value" : types.map(\.rawValue).sorted().joined(separator: " or ")
    }
}

extension SchemaNode {
    /// Whether this schema allows only whole numbers, and a Prisma client with the schema `other` reads them without a
    /// conversion.
    fileprivate func isRead(asIsBy other: SchemaNode) -> Bool {
        let whole: Set<SchemaType> = [.int, .long]
        return !types.isEmpty && whole.isSuperset(of: types) && types.allSatisfy(other.reads)
    }
}
