import ServerSchema

/// The words of reports that depend on the dialect of the schema.
extension Dialect {
    /// Returns the verb phrase for `count` documents that fail, such as "do not sync".
    func failing(_ count: Int) -> String {
        switch self {
        case .appServices: count == 1 ? "does not sync" : "do not sync"
        case .jsonSchema: count == 1 ? "does not fit" : "do not fit"
        case .prisma: "cannot be read"
        }
    }

    /// The verb phrase for documents that might fail, such as "might not sync".
    var possiblyFailing: String {
        switch self {
        case .appServices: "might not sync"
        case .jsonSchema: "might not fit"
        case .prisma: "might not be readable"
        }
    }

    /// The consequence for documents that fail, as a verb phrase such as "would stop syncing".
    var consequence: String {
        switch self {
        case .appServices: "would stop syncing"
        case .jsonSchema: "would not fit"
        case .prisma: "could not be read"
        }
    }

    /// The consequence for documents that might fail, as a verb phrase such as "might stop syncing".
    var possibleConsequence: String {
        switch self {
        case .appServices: "might stop syncing"
        case .jsonSchema: "might not fit"
        case .prisma: "might not be readable"
        }
    }

    /// The adjective for documents that fail.
    var unfit: String {
        switch self {
        case .appServices: "unsyncable"
        case .jsonSchema: "not fitting"
        case .prisma: "unreadable"
        }
    }
}
