import Glibc

/// A place where a test can make the process die or fall asleep, to prove that it loses and breaks nothing there.
///
/// Debug builds read `SHIPSHAPE_FAULT=NAME:N` and signal the process at the N-th time that the place is reached. In a
/// release build none of it exists.
enum FaultPoint: String {
    /// The chunk's lease was looked at and its command is not sent yet: the process is stopped until a `SIGCONT`.
    case beforeWrite = "before-write"
    /// The server acknowledged a chunk's write; the checkpoint is not written yet.
    case afterWrite = "after-write"
    /// The chunk's harm is recorded; the chunk is not written yet.
    case afterHarm = "after-harm"
    /// The checkpoint is acknowledged.
    case afterCheckpoint = "after-checkpoint"

    #if DEBUG
    private static let armed: (name: String, count: Int)? = {
        guard let value = unsafe getenv("SHIPSHAPE_FAULT") else { return nil }
        let parts = unsafe String(cString: value).split(separator: ":")
        guard parts.count == 2, let count = Int(parts[1]) else { return nil }
        return (String(parts[0]), count)
    }()
    #endif

    /// Dies or stops here when a test asked for it; `visit` counts from 1.
    func reached(visit: Int) {
        #if DEBUG
        if let armed = Self.armed, armed.name == rawValue, armed.count == visit {
            // To this thread: a signal to the process may reach another first, and this one would go on.
            raise(self == .beforeWrite ? SIGSTOP : SIGKILL)
        }
        #endif
    }
}
