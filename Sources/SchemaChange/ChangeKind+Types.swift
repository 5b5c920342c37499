/// Object types and the collections that hold them.
extension ChangeKind {
    static let typeAdded = Self(
        .typeAdded, server: .nonBreaking, client: .nonBreaking,
        then: [.mayResync, .unsyncedDocuments, .clientMigration], .quickReference("Add an object type"),
        do: "Check the collection's documents before the deploy: those that do not conform enter the unsynced ones.")
    static let typeRemoved = Self(
        .typeRemoved, server: .breaking, client: .nonBreaking, then: [.terminate, .clientReset],
        .quickReference("Remove an object type"),
        do: "Keep the type on the server, and leave it out of the clients: that needs nothing.")
    static let typeRenamed = Self(
        .typeRenamed, server: .breaking, client: .breaking, then: [.terminate, .clientReset],
        .quickReference("Change an object type name"),
        do: "Keep the title, and map the class name in the client (Kotlin, Java, .NET, Flutter). Else write a partner "
            + "collection, or terminate and re-enable sync.")
    static let embeddedTypeRenamed = Self(
        .typeRenamed, server: .breaking, client: .breaking, then: [.terminate, .clientReset],
        .inferred("as a type's rename"),
        do: "Keep the title of the embedded type, and map the class name in the client. The documents stay as they are."
    )
    static let collectionMoved = Self(
        .collectionMoved, server: .breaking, client: .nonBreaking, then: [.terminate, .clientReset],
        .inferred("the server's type is removed here and added there; clients know types by their titles"),
        do:
            "Copy the documents to the new collection, keep both equal by triggers while clients change over, and remove "
            + "the old one last.")
}
