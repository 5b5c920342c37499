/// A command's result, which can be shown in every form.
package protocol Reportable: Sendable {
    /// For a person at a terminal.
    func text(_ layout: TextLayout) -> String
    /// For machines.
    var json: JSONReport { get }
    /// What the other forms are rendered from.
    var report: Report { get }
}
