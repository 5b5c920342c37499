internal import Check
internal import Checking
internal import Foundation
internal import JobReports
internal import LocatedYAML
internal import Mongo
internal import Reporting
internal import ServerSchema

/// The examination that `doctor` makes, with its findings so far.
///
/// A part of the examination may depend on earlier parts: without a connection, nothing of the deployment is examined.
struct Examination {
    let connection: ConnectionFlags
    private(set) var report = DoctorReport()
    /// The exit code of the first error; `nil` without an error.
    private(set) var failure: ExitStatus?
    /// The schema whose collections are examined; `nil` if there is none.
    var schema: ServerSchema?
    /// Whether the operator names the schema `live`, which means the validators of the deployment.
    var isLive = false

    init(_ connection: ConnectionFlags) { self.connection = connection }

    /// Adds a finding; `status` is the exit code if the finding is the first error.
    mutating func add(
        _ area: DoctorReport.Area, _ name: String, _ level: Report.Level, _ message: String,
        remedy: String? = nil, status: ExitStatus = .findings
    ) {
        report.findings.append(DoctorReport.Finding(area, name, level, message, remedy: remedy))
        if level == .error, failure == nil { failure = status }
    }

    /// Adds the error with which a part of the examination ended.
    mutating func add(_ area: DoctorReport.Area, _ name: String, _ error: any Error) {
        add(area, name, .error, ExitStatus.message(for: error), status: ExitStatus(for: error))
    }

    mutating func name(deployment: String) { report.source = deployment }
}

// MARK: the project

extension Examination {
    /// Examines the files in the working folder.
    mutating func examineProject(_ argument: SchemaArgument) async {
        add(.project, "program", .good, "shipshape \(Release.text), libmongoc \(Driver.version)")
        let settings = Settings.current
        if let file = settings.file.path {
            let environments = settings.file.environments.keys.sorted()
            add(
                .project, "configuration", .good,
                file
                    + (settings.environment.map { ", environment \($0)" }
                        ?? (environments.isEmpty ? "" : "; --env chooses \(environments.joined(separator: " or "))")))
        } else {
            add(
                .project, "configuration", .notice, "there is no \(ConfigurationFile.standardName) here",
                remedy: "shipshape init writes one")
        }
        await examineSchema(argument)
        examineExceptions()
        examineJobs()
    }

    private mutating func examineSchema(_ named: SchemaArgument) async {
        guard !named.isLive else { return isLive = true }
        var argument = named
        if argument.name.isEmpty {
            let found = SchemaSearch.folders(below: ".")
            guard found.count == 1 else {
                return found.isEmpty
                    ? add(
                        .project, "schema", .notice, "no schema is named, and none is in the folders below this one",
                        remedy: "name one, or draft one with shipshape schema infer --out schemas")
                    : add(
                        .project, "schema", .warning,
                        "no schema is named, and there are several: \(found.prefix(4).joined(separator: ", "))",
                        remedy: "name one, or write schema into \(ConfigurationFile.standardName)")
            }
            argument = SchemaArgument(argument: found[0])
        }
        do {
            let read = try await argument.read(namespace: nil, takesPrisma: true, connection: connection)
            schema = read
            let kind = ComparisonFlags.name(of: read.dialect)
            add(
                .project, "schema", .good,
                "\(argument.name): \(read.collections.count.counted("collection")) of \(kind)")
        } catch {
            add(.project, "schema", error)
        }
    }

    private mutating func examineExceptions() {
        let path = ExceptionsFile.standardName
        guard let schema, FileManager.default.fileExists(atPath: path) else { return }
        do {
            let compiled = schema.collections.map { CompiledSchema($0, of: schema, options: CheckOptions()) }
            let exceptions = try ExceptionsFile.read(at: path, for: compiled)
            add(.project, "exceptions", .good, "\(path): \(exceptions.count.counted("exception"))")
        } catch {
            add(.project, "exceptions", error)
        }
    }

    private mutating func examineJobs() {
        let folder = "jobs"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        guard names.contains(where: { $0.hasSuffix(".yml") || $0.hasSuffix(".yaml") }) else { return }
        do {
            let jobs = try JobFolder.read(at: folder, assuming: CheckOptions()).entries
            for job in jobs { _ = try job.job }
            add(.project, "jobs", .good, "\(folder): \(jobs.count.counted("job"))")
        } catch {
            add(.project, "jobs", error)
        }
    }
}
