internal import ArgumentParser
internal import Foundation
internal import Jobs
internal import ServerSchema
internal import SystemPackage

/// Completions that depend on the files of the working folder.
extension CompletionKind {
    /// The names of the jobs in the folder `jobs`, and the paths of files and folders.
    static var jobs: CompletionKind {
        .custom { _, _, prefix in Candidates.safe(Candidates.jobs + Candidates.files(beginning: prefix)) }
    }

    /// The collections of the schemas on the command line, or else of the schema in `shipshape.yml`.
    static var collections: CompletionKind {
        .custom { words, _, _ in
            Candidates.safe(Candidates.schemas(in: words).flatMap { $0.collections.map { "\($0.namespace)" } })
        }
    }

    /// The fields of the schemas on the command line, or else in `shipshape.yml`, with their types, such as `Pet.toy`.
    static var fields: CompletionKind {
        .custom { words, _, _ in
            Candidates.safe(
                Candidates.schemas(in: words).flatMap(\.collections).flatMap { collection in
                    let owner = collection.root.title ?? "\(collection.namespace)"
                    return collection.root.declaredPaths.map { "\(owner).\($0)=" }
                })
        }
    }

    static var environments: CompletionKind {
        .custom { _, _, _ in Candidates.safe(Candidates.configuration.environments.keys) }
    }
}

/// The words that a completion offers.
private enum Candidates {
    /// Returns the words, sorted and each once, without those that a shell could take for a command.
    ///
    /// Bash expands the words of a completion. A name such as `$(command)` would therefore run a command.
    static func safe(_ words: some Sequence<String>) -> [String] {
        Set(words).filter { word in
            word.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || "0123456789-_./=@+,[] ".unicodeScalars.contains($0)
            }
        }.sorted()
    }

    /// The configuration of the working folder; an empty one if it cannot be read.
    static var configuration: ConfigurationFile {
        (try? ConfigurationFile.read(at: nil, variables: ProcessInfo.processInfo.environment)) ?? ConfigurationFile()
    }

    /// The names of the jobs in the folder `jobs`, without those of files that cannot be read.
    static var jobs: [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: "jobs")) ?? []
        return files.filter { $0.hasSuffix(".yml") || $0.hasSuffix(".yaml") }
            .compactMap { try? JobFile.read(past: "jobs/\($0)").name }
    }

    /// Returns the paths of the files and folders that begin with `prefix`.
    ///
    /// Hidden files and folders are included only if the part of `prefix` after the last slash begins with a dot.
    static func files(beginning prefix: String) -> [String] {
        let end = prefix.lastIndex(of: "/").map { prefix.index(after: $0) } ?? prefix.startIndex
        let (folder, name) = (String(prefix[..<end]), prefix[end...])
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
        return names.filter { $0.hasPrefix(name) && (name.hasPrefix(".") || !$0.hasPrefix(".")) }.map { folder + $0 }
    }

    /// Returns the schemas on the command line; if there are none, the schema that `shipshape.yml` names.
    static func schemas(in words: [String]) -> [ServerSchema] {
        let named = words.dropFirst(2).filter { (try? FilePath($0).stat()) != nil }
        let schemas = named.compactMap { try? ServerSchema.read(at: $0) }
        guard schemas.isEmpty, let configured = configuration.schema else { return schemas }
        return (try? ServerSchema.read(at: configured)).map { [$0] } ?? []
    }
}
