/// The end of a run, whichever it was.
extension RunLoop {
    /// Gives the lease back, so that the next run can start at once; unless the server may still get to a write whose reply
    /// was lost: then the lease runs out by itself.
    /// - Returns: what the operator has to know of the lease.
    func leave() -> String? {
        guard let doubtEnd, .now < doubtEnd else {
            // One that cannot be given back ends by itself, too.
            try? store.release(holding.lease)
            return nil
        }
        let seconds = Int(ContinuousClock.now.duration(to: doubtEnd).seconds.rounded(.up))
        return
            "the job's lease is left to run out, for about \(seconds) s: the reply to a write was lost, and the server may "
            + "still get to it"
    }
}
