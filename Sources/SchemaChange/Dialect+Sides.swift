package import ServerSchema

extension Dialect {
    /// The names of the two sides that have a verdict on a change.
    ///
    /// In Prisma, they are the client of the newer schema, which reads the stored documents, and the installed clients
    /// of the older schema.
    package var sides: (server: String, client: String) {
        self == .prisma ? ("new client", "old client") : ("server", "client")
    }
}
