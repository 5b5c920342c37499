internal import BSON

/// A file with a MongoDB validator.
///
/// The file is the validator itself, a `collMod` or `create` command, or an entry of `db.getCollectionInfos()`.
struct ValidatorFile {
    let schema: LocatedJSON
    /// The conditions of the validator other than `$jsonSchema`.
    let others: [LocatedJSON.Member]

    /// Reads the validator of a file; `nil` if the file has none.
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
                "this validator has no $jsonSchema, so there is no schema to check against",
                remedy: "query conditions are not judged")
        }
        self.init(validator: validator)
    }

    private init?(validator: LocatedJSON) {
        guard let schema = validator["$jsonSchema"] else { return nil }
        self.schema = schema
        others = (validator.members ?? []).filter { $0.name != "$jsonSchema" }
    }

    /// Returns a note for each condition of the validator other than `$jsonSchema`.
    func notes(of namespace: Namespace) -> [SchemaNote] {
        others.map { member in
            SchemaNote(
                .unevaluatedKeyword, location: member.nameLocation,
                message: "the condition \"\(member.name)\" of the validator of \(namespace) is not judged")
        }
    }

    /// Returns the collection's schema.
    /// - Parameter failures: collects the errors of parts that mongod refuses; `nil` to throw the first one.
    func collection(
        _ namespace: Namespace, failures: SchemaFailures? = nil
    ) throws(SchemaError) -> CollectionSchema {
        try CollectionSchema(jsonSchema: try LocatedBSON(schema), namespace: namespace, failures: failures)
    }
}
