import ServerSchema

/// The words of reports that depend on the dialect of the schema.
extension Dialect {
    /// Returns the verb phrase for `count` documents that fail, such as "do not sync".
    func failing(_ count: Int) -> String {
        let verb = count == 1 ? "does" : "do"
        return word("\(verb) not sync", "\(verb) not fit", "cannot be read")
    }

    /// The verb phrase for documents that might fail, such as "might not sync".
    var possiblyFailing: String { word("might not sync", "might not fit", "might not be readable") }

    /// The consequence for documents that fail, as a verb phrase such as "would stop syncing".
    var consequence: String { word("would stop syncing", "would not fit", "could not be read") }

    /// The consequence for documents that might fail, as a verb phrase such as "might stop syncing".
    var possibleConsequence: String { word("might stop syncing", "might not fit", "might not be readable") }

    /// The adjective for documents that fail.
    var unfit: String { word("unsyncable", "not fitting", "unreadable") }

    private func word(_ ofAppServices: String, _ ofValidators: String, _ ofPrisma: String) -> String {
        switch self {
        case .appServices: ofAppServices
        case .jsonSchema: ofValidators
        case .prisma: ofPrisma
        }
    }
}
