import ArgumentParser
import DemoData

/// The command `demo-data flat`, which makes flat documents.
struct Flat: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Loads flat documents of about 300 bytes into the database bench, or a .bson file, for measuring.")

    @OptionGroup var generated: Generated

    @Option(help: "The name of the collection.")
    var collection = "Order"

    @Flag(help: "Let a tenth of them fail, in 20 ways.")
    var flawed = false

    func run() async throws {
        let flawed = flawed
        try await generated.write(to: collection) { FlatOrder.document(at: $0, isFlawed: flawed) }
    }
}
