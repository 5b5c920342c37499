import BSON
package import Checking
import SystemPackage

/// Checks every document of a `.bson` file, as mongodump writes them.
package struct DumpScan: Sendable {
    let path: String
    let schema: CompiledSchema
    let options: ScanOptions

    /// Prepares a scan.
    package init(_ schema: CompiledSchema, file path: String, options: ScanOptions) {
        self.path = path
        self.schema = schema
        self.options = options
    }

    /// Reads the file from its start to its end; blocks.
    /// - Throws: ``DumpError`` for a truncated or damaged file, or ``ScanStopped``.
    package func run() throws -> Tally {
        var reader = try BSONFileReader(FilePath(path), validating: true)
        var tally = options.makeTally(schema)
        var unreported = 0
        while let document = try reader.next() {
            try tally.add(document, ledger: options.ledger)
            unreported += 1
            guard unreported == 1_000 else { continue }
            options.progress(unreported)
            unreported = 0
            if options.isStopped() { throw ScanStopped() }
        }
        options.progress(unreported)
        return tally
    }
}
