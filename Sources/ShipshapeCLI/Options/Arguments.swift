internal import ArgumentParser
internal import BSON
internal import Concurrency
internal import Glibc
internal import Jobs
internal import Mongo

/// A duration as the command line spells it: `500ms`, `30s`, `10m`, `2h`.
struct DurationArgument: ExpressibleByArgument {
    let duration: Duration

    init(_ duration: Duration) { self.duration = duration }

    init?(argument: String) {
        guard let duration = Duration(text: argument) else { return nil }
        self.duration = duration
    }

    var defaultValueDescription: String { duration.text }
}

/// A share of documents, such as `99.9%`.
struct CoverArgument: ExpressibleByArgument {
    /// Above 0, at most 1.
    let share: Double

    init?(argument: String) {
        let number = argument.hasSuffix("%") ? argument.dropLast() : argument[...]
        // A share such as 0.999 is rather meant to be 99.9% than to be less than 1%.
        guard let percent = Double(number), percent > 0, percent <= 100, argument.hasSuffix("%") || percent > 1 else {
            return nil
        }
        share = percent / 100
    }

    /// Every document.
    init() { share = 1 }

    var defaultValueDescription: String { "100%" }
}

/// The databases that `--databases` means: those of the deployment whose names match, as a shell matches files.
struct DatabasePattern {
    /// As the operator wrote it.
    let text: String
    /// The database that holds the state of jobs, which is never meant.
    let stateDatabase: String

    /// The names that match now, in their order.
    func matches(on pool: ClientPool) async throws -> [String] {
        let all = try await onOwnedThread(name: "databases") { () throws in try pool.client().databaseNames() }
        return all.filter { name in
            let isMatch = unsafe fnmatch(text, name, 0) == 0
            return isMatch && Namespace.refusal(of: name, stateDatabase: stateDatabase) == nil
        }.sorted()
    }

    /// The names that match now.
    /// - Throws: ``InputError`` when there is none.
    func names(on pool: ClientPool) async throws -> [String] {
        let names = try await matches(on: pool)
        guard !names.isEmpty else {
            throw InputError("no database that the user may see matches \(text): check --databases")
        }
        return names
    }
}
