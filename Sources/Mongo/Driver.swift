internal import CMongoC
internal import Glibc
internal import Synchronization

/// The C driver that carries this room.
package enum Driver {
    /// The version of the libmongoc that is loaded, such as "1.23.1".
    package static var version: String { unsafe String(cString: mongoc_get_version()) }

    /// Starts libmongoc once, its log silent.
    ///
    /// Every door to the driver calls this first. The corresponding C functions are `mongoc_init` and
    /// `mongoc_log_set_handler`.
    static func start() { started }

    /// Takes the name from the shared memory that the driver made for its counters when it was loaded, so that a process
    /// that is killed, or ends at once, leaves nothing behind.
    package static func hideCounters() { _ = unsafe shm_unlink("/mongoc-\(getpid())") }
}

/// `mongoc_cleanup` is never called: the system takes back what a dying process held.
private let started: Void = {
    DriverLog.install()
    mongoc_init()
}()

/// Counts the handles of the C driver that are alive, so that a test can see them all freed.
final class HandleCount: Sendable {
    private let count = Atomic<Int>(0)

    /// The handles that are alive now.
    var value: Int { count.load(ordering: .sequentiallyConsistent) }

    func add() { count.add(1, ordering: .sequentiallyConsistent) }

    func remove() { count.subtract(1, ordering: .sequentiallyConsistent) }
}
