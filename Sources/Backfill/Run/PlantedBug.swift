import Glibc

/// A mistake that a test makes the program do on purpose, to show that the tests would find it.
///
/// Debug builds read `SHIPSHAPE_PLANT=NAME`. In a release build none of it exists.
enum PlantedBug: String, CaseIterable {
    /// Writes are sent without the lease's end in their filter.
    case noFence = "no-fence"
    /// Writes concern every document of their chunk, and not only those that need the job.
    case noNeeds = "no-needs"
    /// A chunk is recorded as done before it is written.
    case checkpointFirst = "checkpoint-first"

    #if DEBUG
    private static let planted = unsafe getenv("SHIPSHAPE_PLANT").flatMap {
        PlantedBug(rawValue: unsafe String(cString: $0))
    }
    var isPlanted: Bool { Self.planted == self }
    #else
    var isPlanted: Bool { false }
    #endif
}
