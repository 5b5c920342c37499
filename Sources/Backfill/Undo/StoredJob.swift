import BSON
import Checking
internal import FoundationEssentials
import JobState
import Jobs
import ServerSchema
import Steps
internal import SystemPackage

/// Reads a job from its record in the state database.
///
/// The record stores the text of the job's file, and the texts of the schemas with which the job was started.
enum StoredJob {
    /// Compiles the job with the schemas in its record.
    ///
    /// If the record says that the next schema was deployed, this schema also takes the place of the active one.
    static func compile(_ record: BSONDocument, assuming assumptions: CheckOptions) throws -> CompiledJob {
        let job = try job(record)
        let next = try schema("next", of: record, for: job)
        let active = try Control(record).deployed == nil ? schema("active", of: record, for: job) : next
        return try CompiledJob(job, active: active, next: next, assuming: assumptions)
    }

    /// Returns the job in the record, for the database in which it ran.
    static func job(_ record: BSONDocument) throws(JobError) -> Job {
        let name = record["_id"]?.text ?? ""
        let job = try JobFile.parse(past: record["text"]?.text ?? "", path: "\(name).yml")
        let place = record["ns"]?.text.flatMap { Namespace($0) }
        return place.map { job.moved(to: $0.database) } ?? job
    }

    /// Returns the schema with the given role, such as `next`; `nil` if the record has none.
    ///
    /// The schema's files are written to a temporary folder, because the reader of schemas decides which files belong
    /// together.
    private static func schema(_ role: String, of record: BSONDocument, for job: Job) throws -> ServerSchema? {
        let files = (record["schemas"]?.document?.values ?? []).compactMap(\.document).filter {
            $0["role"]?.text == role
        }
        guard !files.isEmpty else { return nil }
        let folder = FilePath("/tmp/shipshape-schemas-\(UInt64.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(
            atPath: folder.string, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: folder.string) }
        for file in files {
            guard let path = file["path"]?.text, let text = file["text"]?.text else { continue }
            let place = folder.pushing(FilePath(path).lexicallyNormalized())
            guard place.starts(with: folder) else { continue }
            try FileManager.default.createDirectory(
                atPath: place.removingLastComponent().string, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(fileURLWithPath: place.string))
        }
        let single = (role == "active" ? job.activeSchema : job.nextSchema).flatMap {
            FilePath($0).lastComponent?.string
        }
        let isSingle = files.count == 1 && files[0]["path"]?.text == single
        let root = isSingle ? folder.appending(single ?? "") : folder
        let place = job.namespace
        let own = job.movedFrom ?? place.database
        return try ServerSchema.read(at: root.string, namespace: place.moved(from: place.database, to: own))
            .moved(from: own, to: place.database)
    }
}
