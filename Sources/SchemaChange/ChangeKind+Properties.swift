/// Properties: whether they are there, and under which name.
extension ChangeKind {
    static let requiredAdded = Self(
        .requiredAdded, server: .nonBreaking, client: .nonBreaking,
        then: [.resync, .unsyncedDocuments, .clientMigration], .quickReference("Add a required property"),
        do: "Fill the documents first, then deploy, then fill once more what older clients wrote meanwhile. Where more "
            + "than the limit stay without it, sync stops.")
    static let optionalAdded = Self(
        .optionalAdded, server: .nonBreaking, client: .nonBreaking,
        then: [.mayResync, .unsyncedDocuments, .clientMigration], .quickReference("Add an optional property"),
        do: "Nothing, unless documents already hold a field of that name with another type: convert those first.")
    static let requiredRemoved = removed("Remove a required property")
    static let optionalRemoved = removed("Remove an optional property")

    private static func removed(_ row: String) -> Self {
        Self(
            .propertyRemoved, server: .breaking, client: .nonBreaking, then: [.terminate, .clientReset],
            .quickReference(row),
            do: "Keep it on the server, and leave it out of the clients: new objects get a zero or null there.")
    }

    static let propertyRenamed = Self(
        .propertyRenamed, server: .breaking, client: .breaking, then: [.terminate, .clientReset],
        .quickReference("Change a property name"),
        do: "Keep the name, and map it in the client (most SDKs can). Else add the new property beside the old one and "
            + "copy the values, or write a partner collection.")
    static let optionalToRequired = Self(
        .optionalToRequired, server: .breaking, client: .breaking,
        then: [.terminate, .clientReset, .unsyncedDocuments],
        .quickReference("Change property from optional to required"),
        do: "Fill the documents where it is missing or null, then terminate and re-enable sync with the new schema, or "
            + "write a partner collection.")
    static let requiredToOptional = Self(
        .requiredToOptional, server: .breaking, client: .breaking, then: [.terminate, .clientReset],
        .quickReference("Change property from required to optional"),
        do:
            "The documents stay as they are. Keep it required if you can: else terminate and re-enable sync, or write a "
            + "partner collection.")
    static let defaultAdded = Self(
        .defaultAdded, server: .nonBreaking, client: .nonBreaking, then: [.mayResync],
        .documented("App Services: Update Your Data Model"),
        do: "Nothing: clients see the default where the field is missing, and the documents stay without it.")
    static let defaultChanged = Self(
        .defaultChanged, server: .nonBreaking, client: .nonBreaking, then: [.mayResync],
        .inferred("as an added default"),
        do: "Documents without the field show the new default. Write the old one into them first where it must stay.")
    static let defaultRemoved = Self(
        .defaultRemoved, server: .nonBreaking, client: .nonBreaking, then: [.mayResync, .unsyncedDocuments],
        .inferred("as an added default"),
        do: "Write the old default into the documents that lack the field first: without it they stop syncing.")
}

/// What is demanded beside types and fields.
extension ChangeKind {
    static let constraintTightened = Self(
        .constraintTightened, server: .nonBreaking, client: .nonBreaking, then: [.unsyncedDocuments, .dataAccess],
        .inferred("clients do not know constraints"),
        do:
            "Check the documents before the deploy: those outside of the constraint might stop syncing, and clients can "
            + "still write such.")
    static let constraintLoosened = Self(
        .constraintLoosened, server: .nonBreaking, client: .nonBreaking, then: [.dataAccess],
        .inferred("clients do not know constraints"), do: "Nothing.")
    static let additionalPropertiesChanged = Self(
        .additionalPropertiesChanged, server: .nonBreaking, client: .nonBreaking, then: [.dataAccess],
        .inferred("sync passes over fields that the schema does not declare"),
        do:
            "Nothing for sync. Where further fields are refused now, check the documents that functions and rules touch."
    )
}
