internal import BSON

/// Finds mistakes in a Prisma schema that Prisma refuses, or that make the client lose values or documents.
///
/// Source: `psl-core/src/builtin_connectors/mongodb/validations.rs` and `mongodb_types.rs` in prisma/prisma-engines.
struct PrismaLint {
    let prisma: PrismaSchema
    let model: PrismaSchema.Model
    /// Whether ``model`` is an embedded type.
    let isType: Bool
    private let namespace: Namespace?

    static func findings(in prisma: PrismaSchema, of schema: ServerSchema) -> [LintFinding] {
        let places = schema.collections.map { ($0.root.location, $0.namespace) }
        let namespaces = Dictionary(places) { first, _ in first }
        let relations = PrismaRelations(prisma)
        let models = prisma.models.map { ($0, false) } + prisma.types.map { ($0, true) }
        return models.flatMap { model, isType in
            let lint = PrismaLint(
                prisma: prisma, model: model, isType: isType, namespace: namespaces[model.location])
            let own = model.isIgnored ? [] : model.fields.flatMap { lint.ofField($0) + lint.ofRelation($0) }
            return own + lint.refusals() + model.fields.flatMap { lint.refusals(of: $0, in: relations) }
        } + PrismaLint.refusals(in: prisma)
    }

    /// Returns the finding for a model, a type or an index that Prisma refuses.
    func refused(at location: SourceLocation? = nil, _ message: String, remedy: String) -> LintFinding {
        LintFinding(
            .prismaRefused, .error, namespace: namespace, at: location ?? model.location, "\(model.name) \(message)",
            remedy: remedy)
    }

    func refused(
        _ field: PrismaSchema.Field, at location: SourceLocation? = nil, _ message: String, remedy: String
    ) -> LintFinding {
        finding(.prismaRefused, .error, field, at: location, message, remedy: remedy)
    }

    private func finding(
        _ code: LintFinding.Code, _ level: LintFinding.Level, _ field: PrismaSchema.Field,
        at location: SourceLocation? = nil, _ message: String, remedy: String
    ) -> LintFinding {
        LintFinding(
            code, level, namespace: namespace, path: SchemaPath([.field(field.storedName)]),
            at: location ?? field.location, "\(model.name).\(field.name) \(message)", remedy: remedy)
    }

    private func ofField(_ field: PrismaSchema.Field) -> [LintFinding] {
        var findings: [LintFinding] = []
        if field.isID, field.storedName != "_id" {
            findings.append(
                finding(
                    .idUnmapped, .error, field, "is the @id and is not stored as _id, which Prisma refuses",
                    remedy: "add @map(\"_id\")"))
        }
        if field.defaultValue == .function("auto"), field.nativeType?.type != .objectId || !field.isID {
            findings.append(
                finding(
                    .autoDefault, .error, field,
                    "has the default auto() and is \(field.isID ? "no ObjectId" : "not the @id"), which Prisma refuses",
                    remedy: field.isID ? "add @db.ObjectId" : "remove the default"))
        }
        guard let native = field.nativeType, case .scalar(let scalar) = field.type else { return findings }
        if !native.type.scalars.contains(scalar) {
            findings.append(
                finding(
                    .nativeType, .error, field, at: native.location,
                    "is of type \(scalar.rawValue), which @db.\(native.type.rawValue) does not go with",
                    remedy: "change the type to \(native.type.scalars.map(\.rawValue).joined(separator: " or "))"))
        } else if scalar == .int, native.type == .long {
            findings.append(
                finding(
                    .nativeTypeLossy, .warning, field, at: native.location,
                    "holds 64 bits, but the client returns an Int as a number of JavaScript, which rounds from 2^53 on",
                    remedy: "change the type to BigInt if values can be that large"))
        }
        return findings
    }

    private func ofRelation(_ field: PrismaSchema.Field) -> [LintFinding] {
        guard case .relation(let name) = field.type, let relation = field.relation,
            let target = prisma.model(name)
        else { return [] }
        return zip(relation.fields, relation.references).compactMap { own, other in
            guard let key = model[own], let referenced = target[other] else { return nil }
            if case .relation = key.type { return nil }
            if key.type != referenced.type {
                return finding(
                    .relationType, .error, key, "does not have the type of \(name).\(other), with which it is compared",
                    remedy: "give both fields one type")
            }
            guard key.nativeType?.type != referenced.nativeType?.type else { return nil }
            let native = referenced.nativeType.map { "@db.\($0.type.rawValue)" }
            return finding(
                .relationType, .warning, key,
                "is not stored as \(name).\(other) is, so that the relation finds no documents",
                remedy: (native.map { "add \($0)" } ?? "remove @db.\(key.nativeType?.type.rawValue ?? "")")
                    + ", and convert the stored values: shipshape explain prisma-expand")
        }
    }
}

extension PrismaSchema.NativeType {
    /// The scalar types that Prisma allows for a field with this native type (`@db.…`).
    fileprivate var scalars: [PrismaScalar] {
        switch self {
        case .objectId: [.string, .bytes]
        case .string: [.string]
        case .int: [.int]
        case .long: [.int, .bigInt]
        case .double: [.float]
        case .bool: [.boolean]
        case .date, .timestamp: [.dateTime]
        case .binData: [.bytes]
        case .json: [.json]
        }
    }
}
