import BSON
import ServerSchema

extension Walker {
    /// Judges a list, a set, or a tuple.
    func array<Sink: FindingSink>(
        _ view: borrowing BSONView, node index: Int, depth: Int, into sink: inout Sink
    ) throws(BSONError) {
        guard depth <= BSONView.maximumDepth else { throw BSONError(.tooDeep, at: view.start) }
        let node = nodes[index]
        if node.items >= 0 || Sink.validates {
            var count = 0
            var position = view.firstPosition
            while let element = try view.step(&position) {
                if node.items < 0 {
                    try pass(element, of: view, depth: depth, into: &sink)
                } else if node.tupleCount == 0 {
                    try value(element, of: view, node: Int(node.items), depth: depth, into: &sink)
                } else if count < Int(node.tupleCount) {
                    try value(element, of: view, node: Int(node.items) &+ count, depth: depth, into: &sink)
                } else {
                    try pass(element, of: view, depth: depth, into: &sink)
                }
                count &+= 1
            }
        }
        if node.flags.contains(.set), try ValueSet.hasDuplicates(view) {
            let found = Found(BSONType(rawValue: 4), .equalElements)
            sink.report(Finding(.setDuplicate, .possible, node: index, found))
        }
    }

    /// Judges a point's coordinates, when the object says that it is a point.
    func geoPoint<Sink: FindingSink>(
        _ view: borrowing BSONView, node index: Int, into sink: inout Sink
    ) throws(BSONError) {
        guard let type = try view.find("type"), TypeMask(type.type) == .string,
            view.stringBytes(type).isEqual(to: "Point"), let problem = try coordinateProblem(view)
        else { return }
        sink.report(Finding(.geoPoint, .certain, node: index, Found(BSONType(rawValue: 3), problem)))
    }

    private func coordinateProblem(_ view: borrowing BSONView) throws(BSONError) -> Found.Detail? {
        guard let coordinates = try view.find("coordinates"), TypeMask(coordinates.type) != .null else {
            return .noCoordinates
        }
        // What is no array has its own rule.
        guard TypeMask(coordinates.type) == .array else { return nil }
        let array = try view.document(coordinates)
        var count = 0
        var isInRange = true
        var position = array.firstPosition
        while let element = try array.next(&position) {
            guard TypeMask(element.type) == .double else { return .coordinateType }
            let limit: Double = count == 0 ? 180 : count == 1 ? 90 : .infinity
            if count < 2, !(abs(array.double(element)) <= limit) { isInRange = false }
            count += 1
        }
        return count < 2 ? .fewCoordinates : isInRange ? nil : .coordinateRange
    }
}
