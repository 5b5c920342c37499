import ServerSchema

/// The words of reports that depend on the dialect of the schema.
extension Dialect {
    /// Whether reports mention the limit, or that there is none.
    var mentionsLimit: Bool { self != .prisma }

    /// Returns a clause that says that documents fail: they "do not sync".
    func failing(_ count: Int) -> String {
        switch self {
        case .appServices: count == 1 ? "does not sync" : "do not sync"
        case .jsonSchema: count == 1 ? "does not fit" : "do not fit"
        case .prisma: "cannot be read"
        }
    }

    /// The adjective for documents that fail.
    var unfit: String { self == .prisma ? "unreadable" : "unsyncable" }

    /// The names of the two sides that have a verdict on a change.
    ///
    /// A Prisma client of the newer schema reads what the server stores; clients of the older one are in the field.
    var sides: (server: String, client: String) {
        self == .prisma ? ("new client", "old client") : ("server", "client")
    }
}
