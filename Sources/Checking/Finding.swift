/// A violation before it is put in words: all that the walk knows of it, in a few bytes.
///
/// The node stands for the path and for what was expected, because the plan is a tree.
struct Finding: Hashable, Sendable, BitwiseCopyable {
    var rule: Rule
    var level: Level
    /// Index into the plan's nodes.
    var node: Int32
    var found: Found

    init(_ rule: Rule, _ level: Level, node: Int, _ found: Found) {
        self.rule = rule
        self.level = level
        self.node = Int32(truncatingIfNeeded: node)
        self.found = found
    }
}
