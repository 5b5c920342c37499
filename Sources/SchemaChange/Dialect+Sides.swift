package import ServerSchema

extension Dialect {
    /// The names of the two sides for which a change has a verdict: the server and the client.
    ///
    /// With Prisma, both verdicts are about clients. The verdict for the server is about clients with the newer schema,
    /// which read the stored documents. The verdict for the client is about clients with the older schema.
    package var sides: (server: String, client: String) {
        self == .prisma ? ("new client", "old client") : ("server", "client")
    }
}
