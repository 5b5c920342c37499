internal import BSON

/// A file with a MongoDB validator: the validator itself, a `collMod` or `create` command, or what
/// `db.getCollectionInfos()` gives for a collection.
struct ValidatorFile {
    /// The value of `$jsonSchema`.
    let schema: LocatedJSON
    /// What the validator asks for beside it.
    let others: [LocatedJSON.Member]

    /// Looks for a validator; `nil` when the file holds none.
    /// - Throws: ``SchemaError`` for a validator without a `$jsonSchema`.
    init?(_ json: LocatedJSON) throws(SchemaError) {
        guard json["$jsonSchema"] == nil else {
            self.init(validator: json)
            return
        }
        guard let validator = json["validator"] ?? json["options"]?["validator"], validator.members != nil else {
            return nil
        }
        guard validator["$jsonSchema"] != nil else {
            throw SchemaError(
                .unsupported, at: validator.location,
                "this validator has no $jsonSchema: there is no schema to check by",
                remedy: "query conditions are not judged")
        }
        self.init(validator: validator)
    }

    private init?(validator: LocatedJSON) {
        guard let schema = validator["$jsonSchema"] else { return nil }
        self.schema = schema
        others = (validator.members ?? []).filter { $0.name != "$jsonSchema" }
    }

    /// What is said of the conditions beside `$jsonSchema`.
    func notes(of namespace: Namespace) -> [SchemaNote] {
        others.map { member in
            SchemaNote(
                .unevaluatedKeyword, location: member.nameLocation,
                message: "the condition \"\(member.name)\" of the validator of \(namespace) is not judged")
        }
    }

    /// The collection's schema.
    /// - Parameter failures: takes what mongod refuses of it.
    func collection(
        _ namespace: Namespace, failures: SchemaFailures? = nil
    ) throws(SchemaError) -> CollectionSchema {
        try CollectionSchema(jsonSchema: try LocatedBSON(schema), namespace: namespace, failures: failures)
    }
}
