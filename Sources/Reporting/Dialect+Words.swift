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

    /// The consequence for documents that fail, as a clause: they "would stop syncing".
    var consequence: String {
        switch self {
        case .appServices: "would stop syncing"
        case .jsonSchema: "would not fit"
        case .prisma: "could not be read"
        }
    }

    /// The consequence for documents that might fail, as a clause: they "might stop syncing".
    var possibleConsequence: String {
        switch self {
        case .appServices: "might stop syncing"
        case .jsonSchema: "might not fit"
        case .prisma: "might not be readable"
        }
    }

    /// The adjective for documents that fail.
    var unfit: String { self == .prisma ? "unreadable" : "unsyncable" }
}
