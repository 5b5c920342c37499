internal import CMongoC
internal import Glibc

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
