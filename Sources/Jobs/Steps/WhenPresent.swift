/// What `copy` and `rename` do where the target holds another value already.
package enum WhenPresent: String, Sendable, CaseIterable {
    /// The target keeps it.
    case keep
    /// The source's value replaces it.
    case replace
    /// It keeps it, and the document is reported.
    case report
}
