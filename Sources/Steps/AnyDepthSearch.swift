import BSON
import Concurrency
import JobState
import Jobs
package import Mongo

extension CompiledJob {
    /// Returns the job with each step at any depth replaced by steps for the fields that the documents have.
    ///
    /// A step for which the documents have no field stays, and changes nothing.
    /// - Parameter isStopped: Whether the read has to end early; the job then has only the fields found so far.
    /// - Throws: ``RunError`` if a step stands for too many fields; ``JobError``; ``MongoError``.
    package func located(
        in collection: MongoCollection, until isStopped: () -> Bool = { false }
    ) throws -> CompiledJob {
        var search = AnyDepthSearch(job.steps.compactMap(\.step.anyDepth))
        guard !search.steps.isEmpty else { return self }
        var cursor = collection.find(scope.filter(), options: scope.options("any depth"))
        while !isStopped(), let document = try cursor.next() { try search.add(document) }
        // A field that another step writes is found in each run, also before its first write, so that the order of the
        // two steps does not depend on the documents.
        for located in job.steps where located.step.anyDepth == nil {
            let kind = located.step.kind
            search.add(kind.targets.filter { kind is CasesStep || !kind.removed.contains($0) })
        }
        var paths = search.paths[...]
        var steps: [Job.LocatedStep] = []
        for located in job.steps {
            guard let kind = located.step.anyDepth else {
                steps.append(located)
                continue
            }
            // An inner field comes before the object that holds it, and a field that the condition reads comes last.
            let read = Set(located.step.conditionFields.map(\.topLevel))
            var found = AnyDepthSearch.merged(paths.removeFirst(), by: kind).map { FieldPath(trusted: $0) }
                .sorted { ($1.components.count, $0.description) < ($0.components.count, $1.description) }
            found = found.filter { !read.contains($0.topLevel) } + found.filter { read.contains($0.topLevel) }
            // A field inside a removed field goes with it.
            if !kind.removed.isEmpty, !kind.changesInPlace {
                found = found.filter { path in !found.contains { path.lies(inside: $0) } }
            }
            guard found.count <= AnyDepthSearch.most, steps.count + found.count <= JobFile.maximumSteps else {
                throw RunError(
                    .schemaMismatch,
                    "\(located.step) stands for \(found.count) fields, such as "
                        + found.prefix(2).map { "\"\($0)\"" }.joined(separator: " and ")
                        + ", but a step can stand for \(AnyDepthSearch.most), and a job for "
                        + "\(JobFile.maximumSteps) in all: state them in several jobs"
                ).located(at: located.location)
            }
            steps += (found.isEmpty ? [located.step] : found.map(located.step.found)).map {
                Job.LocatedStep(step: $0, location: located.location, review: located.review)
            }
        }
        var located = try with(steps)
        located.remarks = zip(search.steps, search.unreached).filter { $0.1 > 0 }.map { step, count in
            "\(step.description): \(count.grouped) \(count == 1 ? "field is" : "fields are") below a name that is "
                + "empty, has a dot or begins with $, which no path can state"
        }
        return located
    }
}

/// The search for the fields that steps at any depth stand for.
struct AnyDepthSearch {
    /// The most fields for one step.
    static let most = 40
    /// The number of fields above which those in one object are merged during the search, to bound the memory.
    private static let mostRemembered = 10_000

    let steps: [any AnyDepthStep]
    /// The components of the found paths, for each step.
    private(set) var paths: [Set<[String]>]
    /// The number of fields below a name that is no part of a path, for each step.
    private(set) var unreached: [Int]
    private var path: [String] = []
    /// The number of such names in ``path``.
    private var oddNames = 0

    init(_ steps: [any AnyDepthStep]) {
        self.steps = steps
        paths = steps.map { _ in [] }
        unreached = steps.map { _ in 0 }
    }

    mutating func add(_ written: [FieldPath]) {
        for (index, step) in steps.enumerated() {
            paths[index].formUnion(written.map(\.components).filter { Self.isStated($0, by: step) })
        }
    }

    mutating func add(_ document: borrowing BSONView) throws(BSONError) {
        try visit(document, isList: false)
        for index in paths.indices where paths[index].count > Self.mostRemembered {
            paths[index] = Self.merged(paths[index], by: steps[index])
        }
    }

    private mutating func visit(_ object: borrowing BSONView, isList: Bool) throws(BSONError) {
        var position = object.firstPosition
        while let element = try object.next(&position) {
            let name = isList ? FieldPath.each : object.name(element)
            if path.isEmpty, name == "_id" { continue }
            let isOdd = !isList && !Self.isPathName(name)
            oddNames += isOdd ? 1 : 0
            path.append(name)
            for (index, step) in steps.enumerated() where Self.isStated(path, by: step) {
                guard try step.concerns(element, in: object) else { continue }
                if oddNames == 0 { paths[index].insert(path) } else { unreached[index] += 1 }
            }
            if element.type == .object || element.type == .array {
                try visit(object.document(element), isList: element.type == .array)
            }
            path.removeLast()
            oddNames -= isOdd ? 1 : 0
        }
    }

    /// Whether a path ends as the step states it, and the step reaches it.
    private static func isStated(_ path: [String], by step: any AnyDepthStep) -> Bool {
        let stated = step.field.components.dropFirst()
        return path.suffix(stated.count) == stated && (step.reachesElements || path.last != FieldPath.each)
    }

    /// Whether a path can have a component of this name, and with this meaning.
    private static func isPathName(_ name: String) -> Bool {
        !name.isEmpty && !name.hasPrefix("$") && !name.utf8.contains(UInt8(ascii: "."))
            && !name.hasSuffix(FieldPath.each) && !name.hasSuffix("{}") && name != "**"
    }

    /// Returns the paths, in which `[]` stands for the names of an object that has too many of them.
    static func merged(_ paths: Set<[String]>, by step: any AnyDepthStep) -> Set<[String]> {
        // The last name stays, unless the step is about each value.
        let kept = step.reachesElements && step.field.components.count == 1 ? 0 : 1
        var paths = paths
        while paths.count > most {
            var names: [ArraySlice<String>: Set<String>] = [:]
            for path in paths {
                for index in path.indices.dropFirst().dropLast(kept) {
                    names[path[..<index], default: []].insert(path[index])
                }
            }
            let widest = names.max {
                ($0.value.count, $1.key.joined(separator: ".")) < ($1.value.count, $0.key.joined(separator: "."))
            }
            guard let (object, found) = widest, found.count > 1 else {
                break
            }
            paths = Set(
                paths.map { path in
                    guard path.count > object.count + kept, path.starts(with: object) else { return path }
                    return Array(object) + [FieldPath.each] + path[(object.count + 1)...]
                })
        }
        return paths
    }
}
