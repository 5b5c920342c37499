internal import ArgumentParser
internal import Reporting
internal import ServerSchema

struct ExplainCommand: OfflineCommand {
    static let configuration = CommandConfiguration(
        "explain", "[<topic> ...]",
        abstract: "Explains a code that the program printed, or a topic, or finds a recipe for a change.",
        examples: [
            "explain powersync-depth",
            "explain lower-case an e-mail",
            "explain",
        ],
        details: """
            A code is that of a rule for documents, of a sync engine's rule, of lint, of a change, or of a remark of \
            schema infer, a reason to wait, or an exit code. An error of a Prisma client, such as P2032, shows the \
            rules that lead to it. The topics are \(TopicPages.names.joined(separator: ", ")). \
            Other words find a recipe, which is a job file for a change with a document before and after it, and \
            codes. If several kinds of schemas have a code, that of the schema in shipshape.yml is explained. \
            Without a topic, the groups of codes are listed. Nothing is asked of a server or of the network.
            """)

    @Argument(help: "A code as the program printed it, a topic, or words for a change.")
    var topic: [String] = []

    @Option(name: .shortAndLong, help: "The form of the result on standard output.")
    var output = OutputForm.text

    func work() throws -> Work {
        // A page has no progress, and no report besides itself.
        let topic = topic.joined(separator: " ")
        return Work("explain", topic, output: try OutputFlags.parse(["--output", output.rawValue])) { _ in
            .result(topic.isEmpty ? ExplainResult() : try ExplainResult(of: topic, in: Self.dialect))
        }
    }

    /// The dialect of the schema that `shipshape.yml` names; `nil` if it names none that can be read.
    private static var dialect: Dialect? {
        let schema = SchemaArgument.configured
        guard !schema.name.isEmpty, !schema.isLive else { return nil }
        return try? ServerSchema.readForLint(
            at: schema.name, named: schema.name, namespace: nil, database: "database"
        ).dialect
    }
}
