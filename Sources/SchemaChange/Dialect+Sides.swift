package import ServerSchema

extension Dialect {
    /// The names of the two sides for which a change has a verdict: the server and the client.
    ///
    /// In Prisma, the client of the newer schema takes the place of the server, because it reads the stored documents.
    /// The other side is the client of the older schema.
    package var sides: (server: String, client: String) {
        self == .prisma ? ("new client", "old client") : ("server", "client")
    }
}
