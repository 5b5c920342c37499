/// Work at changes that has no end of its own, under a lease.
package protocol FollowingRun: ~Copyable {
    associatedtype Outcome

    /// Works until it is asked to stop, or has nothing more to do.
    mutating func run() throws -> Outcome
    /// Ends what it follows the changes by.
    func close()
    /// Gives the lease back.
    func leave()
}

extension FollowingRun where Self: ~Copyable {
    /// Works, and gives the lease back at the end, unless a write may still be under way under it.
    package mutating func follow() throws -> Outcome {
        do {
            let outcome = try run()
            leave()
            return outcome
        } catch {
            close()
            if !error.leavesDoubt { leave() }
            throw error
        }
    }
}
