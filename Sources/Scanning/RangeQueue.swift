import Mongo
import Synchronization

/// The parts of a collection that nobody reads yet.
final class RangeQueue: Sendable {
    /// A part of a collection.
    enum Part: Sendable {
        case ids(IDRange)
        case records(RecordRange, RecordPlan)
    }

    /// How many parts there were at first.
    let count: Int
    /// The member that reads all of them; `nil` where any may.
    let member: Member?
    /// The documents that were told of as read.
    let read = Atomic<Int>(0)
    private let parts: Mutex<[Part]>
    private let closed = Atomic<Bool>(false)

    init(_ ranges: [IDRange]) {
        (count, member) = (ranges.count, nil)
        parts = Mutex(ranges.reversed().map { .ids($0) })
    }

    init(_ plan: RecordPlan) {
        (count, member) = (plan.ranges.count, plan.member)
        parts = Mutex(plan.ranges.reversed().map { .records($0, plan) })
    }

    var isClosed: Bool { closed.load(ordering: .relaxed) }

    func next() -> Part? { isClosed ? nil : parts.withLock { $0.popLast() } }

    func close() { closed.store(true, ordering: .relaxed) }
}
