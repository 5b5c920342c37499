/// Finds the relations that Prisma refuses on MongoDB.
///
/// Source: `relation_fields.rs` and `relations` in `psl-core/src/validate/validation_pipeline/validations` of
/// prisma/prisma-engines.
extension PrismaLint {
    /// Returns the findings about a field whose type is a model.
    func refusals(of field: PrismaSchema.Field, in relations: PrismaRelations) -> [LintFinding] {
        guard case .relation(let name) = field.type, let target = prisma.model(name) else { return [] }
        let relation = field.relation ?? PrismaSchema.Relation()
        let twins = relations.fields(of: model, to: target, named: relation.name)
        if twins.count > (model.name == target.name && relation.name != nil ? 2 : 1) {
            guard twins.first?.name == field.name else { return [] }
            let names = twins.prefix(5).map(\.name).joined(separator: ", ") + (twins.count > 5 ? ", …" : "")
            return [
                refused(
                    field, "is one of several fields of one relation to \(name): \(names)",
                    remedy: "give each relation a name: @relation(\"…\")")
            ]
        }
        var findings = refusalsOfArguments(field, relation, to: target)
        if target.isIgnored, !field.isIgnored, !model.isIgnored {
            findings.append(refused(field, "relates to \(name), which is ignored", remedy: "add @ignore"))
        }
        let others = relations.fields(of: target, to: model, named: relation.name)
        guard let other = others.first(where: { model.name != target.name || $0.name != field.name }) else {
            return findings + [
                refused(field, "has no opposite field in \(name)", remedy: "add one, as prisma format does")
            ]
        }
        switch (field.arity == .list, other.arity == .list) {
        case (true, true): findings += refusalsOfLists(field, relation, to: target)
        case (false, true): findings += refusalsOfKeys(field, relation, to: target, in: relations)
        case (true, false): findings += refusalsOfBack(field, relation, "\(name).\(other.name) holds the keys")
        case (false, false): findings += refusalsOfPair(field, relation, other, of: target, in: relations)
        }
        if relations.isCyclic(field, of: model) {
            findings.append(
                refused(
                    field, "is in a cycle of relations whose changes are passed on",
                    remedy: "add onDelete: NoAction, onUpdate: NoAction"))
        }
        return findings
    }

    private func refusalsOfArguments(
        _ field: PrismaSchema.Field, _ relation: PrismaSchema.Relation, to target: PrismaSchema.Model
    ) -> [LintFinding] {
        var findings: [LintFinding] = []
        func refuse(_ message: String, _ remedy: String) { findings.append(refused(field, message, remedy: remedy)) }
        if relation.name == "" { refuse("has a relation without a name", "remove the name, or fill it") }
        if field.relationArgument("map") != nil { refuse("has a map, which no relation on MongoDB has", "remove map") }
        for (name, action) in field.actions {
            if !["Cascade", "Restrict", "NoAction", "SetNull"].contains(action) {
                refuse(
                    "has \(name): \(action), which MongoDB does not have",
                    "write Cascade, Restrict, NoAction or SetNull")
            }
            if action == "SetNull", relation.fields.contains(where: { model[$0]?.arity == .required }) {
                refuse("has \(name): SetNull with a required key", "make the key optional, or write another action")
            }
        }
        for (names, owner) in [(relation.fields, model), (relation.references, target)] {
            if Set(names).count < names.count { refuse("names a key twice", "remove one") }
            for name in names {
                if case .relation? = owner[name]?.type {
                    refuse("names \(owner.name).\(name), which is a relation", "name the field with its key")
                }
            }
        }
        return findings
    }

    private func refusalsOfKeys(
        _ field: PrismaSchema.Field, _ relation: PrismaSchema.Relation, to target: PrismaSchema.Model,
        in relations: PrismaRelations
    ) -> [LintFinding] {
        var findings: [LintFinding] = []
        for (name, keys) in [("fields", relation.fields), ("references", relation.references)] where keys.isEmpty {
            findings.append(
                refused(field, "does not say its \(name)", remedy: "add @relation(fields: …, references: …)"))
        }
        if field.arity == .required, relation.fields.contains(where: { model[$0]?.arity == .optional }) {
            findings.append(
                refused(field, "is required, and its key is optional", remedy: "make both required or both optional"))
        }
        if !relation.references.isEmpty, !relations.isUnique(relation.references, in: target) {
            findings.append(
                refused(
                    field,
                    "refers to \(target.name).\(relation.references.joined(separator: ", ")), which is not unique",
                    remedy: "add \(relation.references.unique)"))
        }
        return findings
    }

    private func refusalsOfBack(
        _ field: PrismaSchema.Field, _ relation: PrismaSchema.Relation, _ message: String
    ) -> [LintFinding] {
        var findings: [LintFinding] = []
        if !relation.fields.isEmpty || !relation.references.isEmpty {
            findings.append(refused(field, "says fields or references: \(message)", remedy: "remove them"))
        }
        if !field.actions.isEmpty {
            findings.append(refused(field, "says onDelete or onUpdate: \(message)", remedy: "remove them"))
        }
        return findings
    }

    private func refusalsOfPair(
        _ field: PrismaSchema.Field, _ relation: PrismaSchema.Relation, _ other: PrismaSchema.Field,
        of target: PrismaSchema.Model, in relations: PrismaRelations
    ) -> [LintFinding] {
        let opposite = "\(target.name).\(other.name)"
        if PrismaRelations.holdsKeys(field, of: model, rather: other, of: target) {
            var findings = refusalsOfKeys(field, relation, to: target, in: relations)
            if !relation.fields.isEmpty, !relations.isUnique(relation.fields, in: model) {
                findings.append(
                    refused(
                        field, "is one to one, and its key is not unique",
                        remedy: "add \(relation.fields.unique), or make \(opposite) a list"))
            }
            return findings
        }
        var findings = refusalsOfBack(field, relation, "\(opposite) holds the keys")
        if field.arity == .required {
            findings.append(
                refused(
                    field, "is required, which MongoDB cannot ensure: \(opposite) holds the keys",
                    remedy: "make it optional"))
        }
        return findings
    }

    private func refusalsOfLists(
        _ field: PrismaSchema.Field, _ relation: PrismaSchema.Relation, to target: PrismaSchema.Model
    ) -> [LintFinding] {
        var findings: [LintFinding] = []
        func refuse(_ message: String, _ remedy: String) { findings.append(refused(field, message, remedy: remedy)) }
        if relation.fields.count != 1 || relation.references.count != 1 {
            refuse(
                "is many to many, and does not say which list holds the keys",
                "add a list of keys, and @relation(fields: [keys], references: [id])")
        }
        if let name = relation.references.first, let key = relation.fields.first, let own = model[key],
            let id = target[name]
        {
            if !id.isID { refuse("refers to \(target.name).\(name), which is not the @id", "refer to the @id") }
            if own.arity != .list || own.type != id.type || own.nativeType?.type != id.nativeType?.type {
                refuse("has the key \(key), which is no list of the type of \(target.name).\(name)", "change its type")
            }
        }
        if !field.actions.isEmpty { refuse("is many to many, and has onDelete or onUpdate", "remove them") }
        return findings
    }
}

/// The fields of a schema that are relations, and the relations that pass changes on in a cycle.
struct PrismaRelations {
    private var fields: [Key: [PrismaSchema.Field]] = [:]
    /// The number of the cycle to which each model belongs, by its name.
    private var cycles: [String: Int] = [:]
    /// The sorted fields of each unique index, and the `@id`, by the model's name.
    private var uniques: [String: Set<[String]>] = [:]

    private struct Key: Hashable {
        let (owner, target, name): (String, String, String?)
    }

    init(_ prisma: PrismaSchema) {
        for model in prisma.models {
            let indexes = PrismaIndex.all(of: model).filter(\.isUnique).map { $0.fields.map(\.path).sorted() }
            uniques[model.name] = Set(indexes + model.fields.filter(\.isID).map { [$0.name] })
            for field in model.fields {
                guard case .relation(let target) = field.type else { continue }
                let name = field.relation?.name
                fields[Key(owner: model.name, target: target, name: name), default: []].append(field)
            }
        }
        findCycles(in: prisma)
    }

    /// Returns the fields of one model that relate it to another one in relations of this name.
    func fields(
        of owner: PrismaSchema.Model, to target: PrismaSchema.Model, named name: String?
    ) -> [PrismaSchema.Field] {
        fields[Key(owner: owner.name, target: target.name, name: name)] ?? []
    }

    /// Whether the fields are the `@id`, or exactly those of a unique index, in any order.
    func isUnique(_ fields: [String], in model: PrismaSchema.Model) -> Bool {
        uniques[model.name]?.contains(fields.sorted()) == true
    }

    /// Whether the first of the two fields of a relation of one to one is the side that holds the keys.
    static func holdsKeys(
        _ field: PrismaSchema.Field, of model: PrismaSchema.Model, rather other: PrismaSchema.Field,
        of target: PrismaSchema.Model
    ) -> Bool {
        if field.arity != other.arity { return field.arity == .required }
        let (own, others) = (field.relation?.fields ?? [], other.relation?.fields ?? [])
        if own.isEmpty != others.isEmpty { return !own.isEmpty }
        return (model.name, field.name) < (target.name, other.name)
    }

    /// Whether the field passes changes on, in a cycle of such relations.
    func isCyclic(_ field: PrismaSchema.Field, of model: PrismaSchema.Model) -> Bool {
        guard case .relation(let target) = field.type, field.passesChangesOn else { return false }
        return target == model.name || cycles[model.name].map { $0 == cycles[target] } ?? false
    }

    /// Numbers the cycles: two models have one number if each reaches the other.
    private mutating func findCycles(in prisma: PrismaSchema) {
        let numbers = Dictionary(prisma.models.enumerated().map { ($1.name, $0) }) { first, _ in first }
        var (next, previous) = (
            [[Int]](repeating: [], count: prisma.models.count), [[Int]](repeating: [], count: prisma.models.count)
        )
        for (key, fields) in fields where fields.contains(where: \.passesChangesOn) {
            guard let from = numbers[key.owner], let to = numbers[key.target], from != to else { continue }
            next[from].append(to)
            previous[to].append(from)
        }
        var (order, seen) = ([Int](), Set<Int>())
        for start in next.indices where seen.insert(start).inserted {
            var open = [(start, next[start][...])]
            while let (model, rest) = open.popLast() {
                guard let target = rest.first else {
                    order.append(model)
                    continue
                }
                open.append((model, rest.dropFirst()))
                if seen.insert(target).inserted { open.append((target, next[target][...])) }
            }
        }
        seen = []
        for start in order.reversed() where seen.insert(start).inserted {
            var (open, members) = ([start], [start])
            while let model = open.popLast() {
                for other in previous[model] where seen.insert(other).inserted {
                    open.append(other)
                    members.append(other)
                }
            }
            if members.count > 1 { for model in members { cycles[prisma.models[model].name] = start } }
        }
    }
}

extension PrismaSchema.Field {
    fileprivate func relationArgument(_ name: String) -> String? {
        switch attributes.first(where: { $0.name.text == "relation" })?.argument(name) {
        case .word(let text)?, .string(let text)?: return text
        case .number?, .function?, .list?: return ""
        case nil: return nil
        }
    }

    /// The actions that the relation states: what happens to this document if the other one changes.
    fileprivate var actions: [(name: String, action: String)] {
        ["onDelete", "onUpdate"].compactMap { name in relationArgument(name).map { (name, $0) } }
    }

    /// Whether a change of the related document changes this one: by default an update does, and if the relation is
    /// optional, so does a deletion.
    fileprivate var passesChangesOn: Bool {
        guard arity != .list, relation?.fields.isEmpty == false else { return false }
        let keep = ["NoAction", "Restrict"]
        let onDelete = relationArgument("onDelete") ?? (arity == .required ? "Restrict" : "SetNull")
        return !keep.contains(onDelete) || !keep.contains(relationArgument("onUpdate") ?? "Cascade")
    }
}

extension [String] {
    /// The attribute that makes fields with these names unique.
    fileprivate var unique: String { count == 1 ? "@unique to \(self[0])" : "@@unique([\(joined(separator: ", "))])" }
}
