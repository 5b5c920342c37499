internal import ArgumentParser
internal import SchemaChange

/// Which removals and additions are renames.
struct RenameFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A rename between OLD and NEW (repeatable): a property by its type or collection, Person.age=yearsSinceBirth "
                + "or app.Person.address.zip=postcode; a type, Person=Human; a collection, app.Person=crm.Person.",
            discussion: "Without it they are a removal and an addition; diff says where these look like a rename.",
            valueName: "old=new"))
    var rename: [String] = []

    @Option(
        help: ArgumentHelp(
            "A configuration file; default: SHIPSHAPE_CONFIG, else shipshape.yml if it is there. Its list renames holds "
                + "the same as --rename, which beats it.", valueName: "file"))
    var config: String?

    func validate() throws {
        for text in rename {
            do { _ = try Rename(text) } catch { throw ValidationError("--\(error)") }
        }
    }

    /// The renames that flags and the configuration state; those of the flags come first, and beat the others.
    /// - Throws: what reading the configuration throws; ``RenameError``.
    func read() throws -> [Rename] {
        let stated = try rename.map { try Rename($0) }
        let kept = try Configuration.read(at: config).renames
        return stated + kept.filter { entry in !stated.contains { $0.old == entry.old } }
    }
}
