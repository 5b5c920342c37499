import ArgumentParser
import DemoData

/// The command `demo-data nested`, which makes nested documents.
struct Nested: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Loads nested documents of about 2 KiB into bench.Voyage, or a .bson file, for measuring.")

    @OptionGroup var generated: Generated

    func run() async throws { try await generated.write(to: "Voyage", NestedVoyage.document) }
}
