internal import CMongoC
internal import Glibc
internal import Synchronization

/// The C driver that this module is built on.
package enum Driver {
    /// The version of the libmongoc that is loaded, such as "1.23.1".
    package static var version: String { unsafe String(cString: mongoc_get_version()) }

    /// Starts libmongoc once, and sends its log to ``DriverLog``.
    ///
    /// Every use of the driver begins with ``MongoURI/parse(_:)``, which calls this. The corresponding C functions are
    /// `mongoc_init` and `mongoc_log_set_handler`.
    static func start() { started }

    /// Unlinks the shared memory that the driver created for its counters when it was loaded.
    ///
    /// Otherwise the shared memory would remain as a file if the process is killed or exits at once.
    package static func hideCounters() { _ = unsafe shm_unlink("/mongoc-\(getpid())") }
}

/// Starts libmongoc when the value is first read.
///
/// `mongoc_cleanup` is never called, because the system frees the resources of a process that ends.
private let started: Void = {
    DriverLog.install()
    mongoc_init()
}()

/// Counts the live handles of the C driver; tests use it to check that all handles were freed.
final class HandleCount: Sendable {
    private let count = Atomic<Int>(0)

    /// The number of the driver's handles that are not freed yet.
    var value: Int { count.load(ordering: .sequentiallyConsistent) }

    func add() { count.add(1, ordering: .sequentiallyConsistent) }

    func remove() { count.subtract(1, ordering: .sequentiallyConsistent) }
}
