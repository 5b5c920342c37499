internal import ArgumentParser
internal import SchemaChange

/// Which removals and additions are renames.
struct RenameFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A rename between OLD and NEW (repeatable): a property by its type or collection, Person.age=yearsSinceBirth "
                + "or app.Person.address.zip=postcode; a type, Person=Human; a collection, app.Person=crm.Person.",
            discussion:
                "Without it they are a removal and an addition; diff says where these look like a rename. The list "
                + "renames of shipshape.yml holds the same.",
            valueName: "old=new"))
    var rename: [String] = []

    func validate() throws {
        for text in rename {
            do { _ = try Rename(text) } catch { throw ValidationError("--\(error)") }
        }
    }

    /// The renames that flags and the configuration state; those of the flags come first, and beat the others.
    /// - Throws: ``RenameError``.
    func read() throws -> [Rename] {
        let stated = try rename.map { try Rename($0) }
        let kept = Settings.current.file.renames
        return stated + kept.filter { entry in !stated.contains { $0.old == entry.old } }
    }
}
