package import Checking
package import ServerSchema

/// The operator's exceptions that apply to a check; a finding with an exception does not make the check fail.
package struct ExceptionList {
    package let file: String
    /// The exceptions that have not expired.
    package private(set) var active: [FindingException]
    /// Notes on exceptions for collections that the schema does not cover.
    package let notes: [String]
    private var affected: [FindingException]
    private let today: String

    /// Creates the list of the exceptions for a check.
    /// - Parameters:
    ///   - schema: the schema of the check; exceptions for other collections are ignored.
    ///   - isPart: whether the operator chose only some collections. If `true`, there are no notes on exceptions for
    ///     other collections, because such exceptions are not mistakes.
    ///   - today: the day in UTC, as `YYYY-MM-DD`.
    package init(file: String, _ exceptions: [FindingException], for schema: ServerSchema, isPart: Bool, today: String)
    {
        self.file = file
        self.today = today
        affected = exceptions.filter { schema[$0.namespace] != nil }
        active = affected.filter { !$0.acceptance.isExpired(on: today) }
        let names = schema.collections.map { "\($0.namespace)" }
        let others = isPart ? [] : exceptions.filter { schema[$0.namespace] == nil }
        notes = others.map { exception in
            let hint = Spelling.hint(for: "\(exception.namespace)", among: names).map { " (\($0))" } ?? ""
            return "\(exception.acceptance.location): the schema does not cover \(exception.namespace)\(hint)"
        }
    }

    /// Returns the same exceptions for the collections of another database.
    package func moved(from own: String, to database: String) -> ExceptionList {
        var list = self
        func move(_ exception: inout FindingException) {
            exception.namespace = exception.namespace.moved(from: own, to: database)
        }
        for index in list.active.indices { move(&list.active[index]) }
        for index in list.affected.indices { move(&list.affected[index]) }
        return list
    }

    /// Returns which exceptions matched a finding, matched nothing or have expired.
    package func use(in collections: [CheckReport.Collection]) -> ExceptionUse {
        ExceptionUse(file: file, affected, in: collections, today: today)
    }
}
