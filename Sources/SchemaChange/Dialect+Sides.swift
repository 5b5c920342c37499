package import ServerSchema

extension Dialect {
    /// The names of the two sides that have a verdict on a change.
    ///
    /// A Prisma client of the newer schema reads what the server stores; clients of the older one are in the field.
    package var sides: (server: String, client: String) {
        self == .prisma ? ("new client", "old client") : ("server", "client")
    }
}
