/// Work at changes that has no end of its own, under a lease.
package protocol FollowingRun: ~Copyable {
    associatedtype Outcome

    /// The lease, and what the work stands on.
    var kernel: Kernel { get set }

    /// Works until it is asked to stop, or has nothing more to do.
    mutating func run() throws -> Outcome
    /// Ends what it follows the changes by.
    func close()
    /// Gives the lease back.
    func leave()
}

extension FollowingRun where Self: ~Copyable {
    /// Works, and gives the lease back at the end, unless a write may still be under way under it.
    /// - Parameter atTheEnd: called after the work, while the lease is held.
    package mutating func follow(
        _ atTheEnd: (Outcome, inout Kernel) throws -> Void = { _, _ in }
    ) throws -> Outcome {
        do {
            let outcome = try run()
            try atTheEnd(outcome, &kernel)
            leave()
            return outcome
        } catch {
            close()
            if !error.leavesDoubt { leave() }
            throw error
        }
    }
}
