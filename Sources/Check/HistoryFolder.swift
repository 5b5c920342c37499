import BSON
import Files
internal import Foundation
package import Reporting
import SystemPackage

/// The history of `--history FOLDER`: the folder has a small file of counts for each check.
package struct HistoryFolder: HistoryStore {
    private let path: FilePath

    /// The size in bytes above which a file is not read; the summary of a check is far smaller, unless it has tens of
    /// thousands of findings.
    private static let largestFile = 4 << 20

    private init(_ path: FilePath) { self.path = path }

    /// Returns the history folder, after checking that files can be written to it; creates the folder if it does not
    /// exist.
    /// - Parameter inputs: the files and folders that the command reads. The history folder must not be one of them,
    ///   because the command would read the history as an input.
    /// - Throws: ``UsageError``; ``OutputError``.
    package static func forWriting(_ name: String, reading inputs: [String?]) throws -> HistoryFolder {
        let folder = HistoryFolder(FilePath(name))
        let present = try? folder.path.stat()
        for input in inputs.compactMap(\.self) {
            guard let present, let read = try? FilePath(input).stat(), present.inode == read.inode,
                present.deviceID == read.deviceID
            else { continue }
            throw UsageError("\(name) is also an input (\(input)): keep the history in another folder")
        }
        do {
            if present == nil {
                // A missing parent folder is not created, because it probably means that the name is mistyped.
                try FileManager.default.createDirectory(
                    atPath: name, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            }
            try AtomicFile.checkWritable(folder.path.appending("probe").string)
            _ = try folder.names()
        } catch let error as InputError {
            throw OutputError(description: error.description)
        } catch let error as Errno {
            throw OutputError(description: "cannot write to the history \(name): \(error)")
        } catch {
            throw OutputError(
                description: "cannot create the folder \(name) for the history: create it, or name one that exists")
        }
        return folder
    }

    /// Returns the history folder for reading; the folder has to exist.
    /// - Throws: ``InputError``.
    package static func forReading(_ name: String) throws -> HistoryFolder {
        guard (try? FilePath(name).stat().type) == .directory else {
            throw InputError("\(name) is not a folder: name the folder that you gave to check --history")
        }
        return HistoryFolder(FilePath(name))
    }

    /// Returns the counts of all checks in the folder.
    /// - Throws: ``InputError`` when the folder cannot be read.
    package func read() throws -> CheckHistory {
        var summaries: [CheckSummary] = []
        var foreign: [String] = []
        for name in try names() {
            do { summaries.append(try read(name)) } catch { foreign.append("\(path.appending(name)): \(error)") }
        }
        return CheckHistory(summaries, passedOver: foreign, in: path.string)
    }

    /// Writes the counts of a check to a file in the folder.
    /// - Throws: ``OutputError``.
    package func add(_ summary: CheckSummary) throws {
        do { try AtomicFile.write(summary.text.utf8, to: path.appending("\(summary.name).json").string) } catch {
            throw OutputError(description: "cannot write to the history \(path): \(error)")
        }
    }

    /// Removes the counts of all checks except the newest ones, and returns how many were removed.
    /// - Throws: ``InputError``; ``OutputError``.
    package func keep(_ count: Int) throws -> Int {
        let ours = try names().compactMap { name in (try? read(name)).map { (name: name, at: $0.at) } }
        let old = ours.sorted { $0.at < $1.at }.dropLast(count)
        for (name, _) in old {
            do { try FileManager.default.removeItem(atPath: path.appending(name).string) } catch {
                throw OutputError(description: "cannot remove \(path.appending(name)): \(error.localizedDescription)")
            }
        }
        return old.count
    }

    /// Returns the names of the files that may be summaries of checks, in alphabetical order.
    private func names() throws -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path.string)
                .filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }.sorted()
        } catch {
            throw InputError("cannot read the history \(path): \(error.localizedDescription)")
        }
    }

    private func read(_ name: String) throws -> CheckSummary {
        let file = path.appending(name)
        guard let stat = try? file.stat(), stat.type == .regular, stat.size <= Self.largestFile,
            let bytes = FileManager.default.contents(atPath: file.string)
        else { throw CheckSummaryError("it cannot be read") }
        return try CheckSummary(parsing: String(decoding: bytes, as: UTF8.self))
    }
}
