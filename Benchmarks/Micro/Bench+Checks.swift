import BSON
import Checking
import ServerSchema
import SystemPackage

extension Bench {
    /// Measures how fast documents in memory are checked and their findings counted, without reading files or rendering
    /// reports.
    mutating func measureChecks(documents: Int) throws {
        let orders = Namespace(database: "bench", collection: "Order")
        let flat = FilePath(#filePath).removingLastComponent().removingLastComponent().appending("flat")
        var file = try DumpInput(flat.appending("validator.json"))
        // `validator.json` contains only the schema, without the `$jsonSchema` around it that a validator has, so it is
        // added here.
        let validator = try ServerSchema.read(text: "{\"$jsonSchema\": \(file.text())}", namespace: orders)
        let schemas = [
            ("schema", try ServerSchema.read(at: flat.appending("schema.json").string, namespace: orders)),
            ("strict schema", try ServerSchema.read(at: flat.appending("strict.json").string, namespace: orders)),
            ("validator", validator), ("validator for PowerSync", validator),
        ]
        let fitting = Corpus(documents: documents)
        let flawed = Corpus(documents: documents, isFlawed: true)

        try measure("every element, A", bytes: fitting.bytes.count, items: documents, of: "documents") {
            try fitting.forEach { view throws(BSONError) in try view.validate() }
        }
        for (name, schema) in schemas {
            var options = CheckOptions()
            if name.hasSuffix("PowerSync") { options.engine = EngineSettings(.powersync) }
            let schema = CompiledSchema(schema.collections[0], of: schema, options: options)
            try measure("check by \(name), A", bytes: fitting.bytes.count, items: documents, of: "documents") {
                var count = 0
                try fitting.forEach { view throws(BSONError) in
                    if try schema.check(view) >= .possible { count += 1 }
                }
                precondition(count == 0, "every document fits")
            }
            for (data, corpus) in [("A", fitting), ("C", flawed)] {
                try measure("tally by \(name), \(data)", bytes: corpus.bytes.count, items: documents, of: "documents") {
                    var tally = Tally(schema)
                    try corpus.forEach { view throws(BSONError) in try tally.add(view) }
                    let hasFailures = tally.counts.certain > 0
                    precondition(hasFailures == (data == "C"), "documents fail in C alone")
                }
            }
        }
    }
}
