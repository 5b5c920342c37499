/// A command's result, which can be shown in every form.
package protocol Reportable: Sendable {
    /// For a person at a terminal.
    /// - Parameter width: the columns of a terminal; `nil` for a file, whose lines are as long as they need be.
    func text(width: Int?, isColored: Bool) -> String
    /// For machines.
    var json: JSONReport { get }
    /// What the other forms are rendered from.
    var report: Report { get }
}
