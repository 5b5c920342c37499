import BSON
import ServerSchema

/// Makes a Prisma model from the decisions of a ``SchemaFitter``.
///
/// The fitter decides which BSON types the values at a path may have. The field then gets a Prisma type that can read
/// all of them, or `Json` if there is no such type.
struct PrismaBuilder {
    private let fitter: SchemaFitter
    private let enums: EnumRule?
    private var titles: TypeTitles
    private var types: [PrismaSchema.Model] = []
    private var enumerations: [PrismaSchema.Enumeration] = []
    private static let nowhere = SourceLocation(whole: "")

    /// Returns a Prisma schema with the model of one collection, and with the composite types and enums that the model
    /// uses.
    /// - Parameter reserved: the names of other models, which the new model and its types must not have.
    static func schema(
        _ fitter: SchemaFitter, of collection: String, title: String, reserved: Set<String>
    ) -> PrismaSchema {
        var builder = PrismaBuilder(fitter, title: title, reserved: reserved)
        var model = PrismaSchema.Model(name: builder.titles.root, location: nowhere, collection: collection)
        model.fields = builder.fields(of: 0, path: [])
        return PrismaSchema(models: [model], types: builder.types, enums: builder.enumerations)
    }

    private init(_ fitter: SchemaFitter, title: String, reserved: Set<String>) {
        self.fitter = fitter
        enums = fitter.options.hasEnums ? EnumRule() : nil
        let scalars = PrismaScalar.allCases.map(\.rawValue)
        titles = TypeTitles(
            root: title, reserved: reserved.union(scalars).union(PrismaSchema.reservedNames), isPascalCase: true)
    }

    private mutating func fields(of node: Int, path: [String]) -> [PrismaSchema.Field] {
        let keys = fitter.tree.nodes[node].keys
        var used: Set<String> = []
        var fields: [PrismaSchema.Field] = []
        for position in fitter.tree.sortedKeys(of: node) {
            let stored = String(decoding: keys.name(position), as: UTF8.self)
            let isID = node == 0 && stored == "_id"
            let name = Self.name(stored, isID: isID, &used)
            guard var field = field(keys.nodes[position], name, stored, path: path + [stored]) else { continue }
            if isID { Self.makeID(&field) }
            fields.append(field)
        }
        if node == 0, fields.first?.isID != true {
            var id = PrismaSchema.Field(
                name: Self.name("_id", isID: true, &used), location: Self.nowhere, storedName: "_id",
                type: .scalar(.string), arity: .required)
            id.nativeType = (.objectId, Self.nowhere)
            Self.makeID(&id)
            fields.insert(id, at: 0)
        }
        return fields
    }

    private static func makeID(_ field: inout PrismaSchema.Field) {
        (field.isID, field.arity) = (true, .required)
        if field.nativeType?.type == .objectId { field.defaultValue = .function("auto") }
        guard case .scalar(let scalar) = field.type, scalar != .json else {
            // Prisma allows only a scalar other than Json as an id, so no model can read documents with an `_id` of
            // another kind. The model gets a `String`, and the check of the documents then shows that they do not fit.
            field.type = .scalar(.string)
            return
        }
    }

    /// Returns an unused name that Prisma accepts: letters, digits and underscores, with a letter first.
    private static func name(_ stored: String, isID: Bool, _ used: inout Set<String>) -> String {
        let words = stored.unicodeScalars.map { scalar in
            let isWord = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
            return isWord ? Character(scalar) : "_"
        }
        var name = String(words.drop { !$0.isLetter })
        if isID { name = "id" }
        if name.isEmpty { name = "field" }
        var unique = name
        var number = 2
        while !used.insert(unique).inserted {
            unique = "\(name)_\(number)"
            number += 1
        }
        return unique
    }

    // MARK: types

    /// Returns the model's field for a node of the path tree; `nil` if the schema leaves the field out.
    private mutating func field(
        _ node: Int, _ name: String, _ stored: String, path: [String]
    ) -> PrismaSchema.Field? {
        guard let plan = fitter.plans[node] else { return nil }
        let mayBeNull = plan.types.contains(.null) || !plan.isRequired
        var field = PrismaSchema.Field(
            name: name, location: Self.nowhere, storedName: stored, type: .scalar(.json),
            arity: mayBeNull ? .optional : .required)
        if kinds(of: node, plan) == [.array], let (type, native) = element(of: node, path: path) {
            (field.type, field.arity) = (type, .list)
            field.nativeType = native.map { ($0, Self.nowhere) }
        } else {
            let (type, native) = type(of: node, plan, path: path)
            field.type = type
            field.nativeType = native.map { ($0, Self.nowhere) }
        }
        field.comment = shares(of: node)
        return field
    }

    /// Returns the share of each type among the values of a node, the largest first; `nil` if all have one type.
    private func shares(of node: Int) -> String? {
        var counts: [String: Int] = [:]
        for (kind, count) in fitter.tree.nodes[node].kinds where kind != .null {
            let scalar = Self.scalars.first { $0.kinds.contains(kind) }?.scalar.rawValue
            let name = kind == .objectId ? "ObjectId" : kind == .nonFiniteDouble ? "Float" : scalar
            counts[name ?? kind.serverType.rawValue, default: 0] += count
        }
        let all = counts.values.reduce(0, +)
        guard counts.count > 1 else { return nil }
        return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { name, count in
            let percent = (Double(count) / Double(all) * 100).rounded()
            return "\(name) \(percent < 1 ? "below 1" : percent > 99 ? "over 99" : "\(Int(percent))") %"
        }.joined(separator: ", ")
    }

    /// Returns the Prisma type of an array's elements; `nil` if no Prisma list can hold the elements.
    private mutating func element(
        of node: Int, path: [String]
    ) -> (PrismaSchema.FieldType, PrismaSchema.NativeType?)? {
        let items = fitter.tree.nodes[node].items
        if items < 0 { return (.scalar(.json), nil) }
        guard let plan = fitter.plans[items], !plan.types.contains(.null) else { return nil }
        return type(of: items, plan, path: path)
    }

    /// Returns the kinds of values at a node.
    ///
    /// Null is left out, and so is each kind whose BSON type the fitter dropped.
    private func kinds(of node: Int, _ plan: Plan) -> Set<ValueKind> {
        Set(fitter.tree.nodes[node].kinds.map { $0.0 }.filter { $0 != .null && plan.types.contains($0.serverType) })
    }

    private mutating func type(
        of node: Int, _ plan: Plan, path: [String]
    ) -> (PrismaSchema.FieldType, PrismaSchema.NativeType?) {
        let kinds = kinds(of: node, plan)
        if kinds == [.object], let type = embedded(node, path: path) { return (.embedded(type), nil) }
        if let values = enums?.values(of: fitter.tree.nodes[node], plan)?.compactMap(\.text), !values.isEmpty {
            return (.enumeration(enumeration(values, path: path)), nil)
        }
        if kinds == [.objectId] { return (.scalar(.string), .objectId) }
        let scalar = Self.scalars.first { kinds.isSubset(of: $0.kinds) }?.scalar ?? .json
        return (.scalar(scalar), nil)
    }

    /// The scalar types with the kinds of values that they read without loss, and that a query with the value finds, in
    /// the order of preference.
    private static let scalars: [(kinds: Set<ValueKind>, scalar: PrismaScalar)] = [
        ([.string], .string), ([.bool], .boolean), ([.int, .long], .int),
        ([.int, .long, .longBeyondDouble], .bigInt), ([.int, .long, .double, .integralDouble], .float),
        ([.date], .dateTime), ([.binData], .bytes),
    ]

    /// Adds a composite type for the objects at a node, and returns the name of the type.
    ///
    /// Returns `nil` if the objects are dictionaries or have no fields.
    private mutating func embedded(_ node: Int, path: [String]) -> String? {
        guard !fitter.tree.nodes[node].isFolded else { return nil }
        let place = types.count
        let name = titles.title(at: path)
        types.append(PrismaSchema.Model(name: name, location: Self.nowhere, collection: name))
        types[place].fields = fields(of: node, path: path)
        if types[place].fields.isEmpty {
            types.remove(at: place)
            return nil
        }
        return name
    }

    private mutating func enumeration(_ values: [String], path: [String]) -> String {
        let name = titles.title(at: path)
        var used: Set<String> = []
        let members = values.map { value in
            PrismaSchema.Enumeration.Value(
                name: Self.name(value, isID: false, &used), location: Self.nowhere, storedName: value)
        }
        enumerations.append(PrismaSchema.Enumeration(name: name, location: Self.nowhere, values: members))
        return name
    }
}
