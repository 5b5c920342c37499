import BSON
import ServerSchema

/// Adds the indexes of a collection to the model that was inferred from its documents.
extension PrismaSchema {
    /// Adds what the first model can have of these indexes, and a comment on each that Prisma cannot declare.
    /// - Parameter indexes: the descriptions of the indexes, as `listIndexes` has them.
    mutating func addIndexes(_ indexes: [BSONDocument]) {
        guard var model = models.first else { return }
        var seen: Set<[String]> = []
        for index in indexes where index["name"] != "_id_" {
            guard let key = index["key"]?.document, let name = index["name"]?.text else { continue }
            let words = words(of: key, in: model)
            let reason =
                words == nil
                ? "whose key no model can have"
                : Self.obstacle(in: index)
                    ?? (words.map { seen.insert($0.fields).inserted } == false ? "a second one over its fields" : nil)
            if let words, reason == nil { add(words, index["unique"] == true, named: name, to: &model) }
            if let reason { model.lastLines.append("/// not here: the index \(name.quotedAsJSON), \(reason)") }
        }
        self = PrismaSchema(models: [model] + models.dropFirst(), types: types, enums: enums)
    }

    private typealias Words = (paths: [String], fields: [String])

    private func add(_ words: Words, _ isUnique: Bool, named name: String, to model: inout Model) {
        let usual = PrismaIndex.name(words.paths, isUnique: isUnique, of: model.collection)
        let map = name == usual ? "" : "map: \(name.quotedAsJSON)"
        if isUnique, words.fields.count == 1, let place = model.fields.firstIndex(where: { $0.name == words.fields[0] })
        {
            model.fields[place].isUnique = true
            model.fields[place].uniqueArguments = map.isEmpty ? "" : "(\(map))"
            return
        }
        // The client calls a unique index of several fields by their names, which may be that of another field.
        let client = words.paths.joined(separator: "_")
        let clashes = isUnique && model.fields.contains { $0.name == client }
        let name = clashes ? "name: \"\(client)_key\"" : ""
        let arguments = ["[\(words.fields.joined(separator: ", "))]", name, map].filter { !$0.isEmpty }
        model.lastLines.append("@@\(isUnique ? "unique" : "index")(\(arguments.joined(separator: ", ")))")
    }

    /// Returns the fields of an index by their names in the schema; `nil` if the model does not have them all, or if
    /// the index is not of the usual kind.
    private func words(of key: BSONDocument, in model: Model) -> Words? {
        guard let elements = try? key.elements() else { return nil }
        var words: Words = ([], [])
        for (stored, order) in elements {
            // The server takes any number as an order, and only its sign counts.
            guard let number = BSONNumber(order), let path = path(stored, isOnly: elements.count == 1, in: model)
            else { return nil }
            words.paths.append(path)
            words.fields.append(number.compared(to: .integer(0)) == .less ? "\(path)(sort: Desc)" : path)
        }
        return words
    }

    private func path(_ stored: String, isOnly: Bool, in model: Model) -> String? {
        var (owner, names) = (Optional(model), [String]())
        for part in stored.split(separator: ".", omittingEmptySubsequences: false) {
            guard let field = owner?.fields.first(where: { $0.storedName == part }) else { return nil }
            names.append(field.name)
            if case .embedded(let name) = field.type { owner = type(name) } else { owner = nil }
        }
        // Prisma has no index of a whole type together with other fields.
        if owner != nil, !isOnly { return nil }
        return names.joined(separator: ".")
    }

    /// Returns the property of an index that Prisma does not have; `nil` if it has none.
    private static func obstacle(in index: BSONDocument) -> String? {
        let known = [
            ("partialFilterExpression", "which is partial"), ("sparse", "which is sparse"),
            ("expireAfterSeconds", "which removes old documents"), ("collation", "which has a collation"),
        ]
        return known.first { index[$0.0] != nil && index[$0.0] != false }?.1
    }
}
