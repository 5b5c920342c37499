import BSON
import ServerSchema

/// Finds the exception that covers a finding.
struct ExceptionIndex: Sendable {
    private var exceptions: [Key: FindingException] = [:]

    private struct Key: Hashable, Sendable {
        var path: String
        var rule: RuleCode
    }

    init(_ exceptions: [FindingException], for namespace: Namespace) {
        for exception in exceptions where exception.namespace == namespace {
            self.exceptions[Key(path: exception.path, rule: exception.rule)] = exception
        }
    }

    func exception(for located: FindingCollector.Located, in schema: CompiledSchema) -> FindingException? {
        guard !exceptions.isEmpty else { return nil }
        return exceptions[Key(path: schema.path(of: located).description, rule: schema.code(of: located))]
    }
}
