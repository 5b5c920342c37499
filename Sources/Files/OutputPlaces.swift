internal import Foundation
internal import SystemPackage

/// Checks that no result overwrites an input of the command, or another result.
package enum OutputPlaces {
    /// Checks, before a long run, that the report files can be written, and that no output is a file that the command
    /// reads.
    /// - Parameters:
    ///   - inputs: the files and folders that the command reads.
    ///   - others: the files that the command writes besides its reports.
    /// - Throws: ``UsageError``; ``OutputError``.
    package static func prepare(_ reports: [String], reading inputs: [String?], writing others: [String?] = []) throws {
        try check(reports + others.compactMap(\.self), reading: inputs.compactMap(\.self))
        for path in reports {
            do { try AtomicFile.checkWritable(path) } catch { throw OutputError(report: path, error) }
        }
    }

    /// Throws if an output file is also an input of the command, or is in a folder that the command reads.
    ///
    /// Also throws if two outputs are the same file.
    /// - Parameter inputs: the files and folders that the command reads; paths that do not exist are ignored.
    /// - Throws: ``UsageError``.
    package static func check(_ outputs: [String], reading inputs: [String]) throws {
        let read = inputs.compactMap { name in Place(name).map { (name: name, place: $0) } }
        for output in outputs {
            guard let place = Place(output), place.type == .regular else { continue }
            for input in read where place.isSame(as: input.place) {
                throw UsageError("\(output) is also read, as \(input.name): write the result elsewhere")
            }
            for input in read where place.isInput(below: input.place) {
                throw UsageError("\(output) is in \(input.name), which is read: write the result elsewhere")
            }
        }
        for (index, output) in outputs.enumerated() where isTwice(output, in: outputs[..<index]) {
            throw UsageError("two results would be written to the same file: \(output)")
        }
    }

    /// Whether one of the paths in `others` names the same file as `output`, perhaps by another path, such as `./a` for
    /// `a`.
    private static func isTwice(_ output: String, in others: ArraySlice<String>) -> Bool {
        guard let file = file(output) else { return false }
        return others.contains { Self.file($0) == file }
    }

    /// Returns the path with symbolic links in its folder resolved, so that two paths of one file are equal.
    ///
    /// Returns `nil` if the path exists and is not a regular file, for example a pipe.
    private static func file(_ path: String) -> FilePath? {
        let path = FilePath(path)
        if let type = try? path.stat().type, type != .regular { return nil }
        let folder = path.removingLastComponent()
        guard let name = path.lastComponent else { return nil }
        return FilePath(real(folder.isEmpty ? "." : folder) ?? folder.string).appending(name)
    }

    /// Returns a path without symbolic links; `nil` if it does not exist.
    static func real(_ path: FilePath) -> String? {
        guard let real = unsafe realpath(path.string, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    /// A file or a folder that exists.
    private struct Place {
        let path: String
        let type: FileType
        private let device: DeviceID
        private let number: Inode

        init?(_ path: String) {
            guard let stat = try? FilePath(path).stat(), let real = real(FilePath(path)) else { return nil }
            (self.path, type) = (real, stat.type)
            (device, number) = (stat.deviceID, stat.inode)
        }

        func isSame(as other: Place) -> Bool { (device, number) == (other.device, other.number) }

        /// Whether a command that reads the folder reads this file.
        ///
        /// Only files with certain endings count as inputs. The result is `false` for a report of this program, because
        /// a later report may replace the file.
        func isInput(below folder: Place) -> Bool {
            guard folder.type == .directory, path.hasPrefix(folder.path == "/" ? "/" : folder.path + "/") else {
                return false
            }
            let endings: Set = ["json", "bson", "gz", "yml", "yaml", "archive", "jsonl", "prisma"]
            return endings.contains(FilePath(path).extension ?? "") && !isReport
        }

        /// Whether the file begins like a JSON report of this program.
        private var isReport: Bool {
            guard let file = FileHandle(forReadingAtPath: path) else { return false }
            defer { try? file.close() }
            let head = ((try? file.read(upToCount: 64)) ?? nil) ?? Data()
            return String(decoding: head, as: UTF8.self).contains("\"schema_version\":")
        }
    }
}
