package import BSON
import LocatedYAML
package import ServerSchema

/// Fits a step to the job's schemas: checks that the schemas declare its targets, and converts its constants to the
/// declared types.
package enum StepFitting {
    /// Returns the step with its constants in the types that the next schema declares.
    /// - Throws: ``JobError`` at the step if the schemas do not allow the fields that it writes, or if they declare the
    ///   field with which it marks documents as done.
    package static func fit(
        _ located: Job.LocatedStep, active: SchemaNode?, next: SchemaNode?
    ) throws(JobError) -> Step {
        guard let schema = next ?? active, located.step.anyDepth == nil else { return located.step }
        if let marker = located.step.kind.marker, [active, next].contains(where: { $0?.property(at: marker) != nil }) {
            throw JobError(
                "\"once\": a schema of the job declares the field \"\(marker)\"; name one that no document has, "
                    + "because `job cleanup` removes it", at: located.location)
        }
        var step = located.step
        for target in step.targets {
            guard let node = schema.property(at: target) ?? active?.property(at: target) else {
                // The schemas may already lack a field that the step removes.
                if step.kind.removed.contains(target) || step.isFound { continue }
                let names = schema.declaredPaths + (active?.declaredPaths ?? [])
                let hint = Spelling.hint(forPath: target.description, among: names).map { " (\($0))" } ?? ""
                throw JobError("no schema of the job declares the field \"\(target)\"\(hint)", at: located.location)
            }
            // Only the next schema decides which values the job has to produce.
            guard let next, next.property(at: target) != nil else { continue }
            if step.kind.removed.contains(target) {
                guard !next.requires(target) else {
                    throw JobError(
                        "the next schema requires \"\(target)\", which the step removes", at: located.location)
                }
            } else if node.types.count == 1, let type = node.types.first {
                // A Prisma client can read a numeric field whose values have another type than the schema declares. A
                // `convert` step may therefore convert to such a type.
                let chosen = (step.kind as? ConvertStep)?.type
                let isRead = chosen.map { node.scalar != nil && node.reads($0) } == true
                step = step.with(try step.kind.fitted(to: isRead ? chosen ?? type : type, at: located.location))
            }
        }
        return step
    }

    /// Throws if the next schema declares neither the type to which the step converts nor `mixed`.
    /// - Throws: ``JobError`` at `location`.
    package static func check(
        _ target: FieldPath, convertedTo type: SchemaType, _ declared: SchemaType, at location: SourceLocation
    ) throws(JobError) {
        guard type == declared || declared == .mixed else {
            throw JobError(
                "\"\(target)\" is converted to \(type.rawValue), and the next schema declares \(declared.rawValue)",
                at: location)
        }
    }

    /// Returns the value in the declared type; `nil` if the value does not fit that type.
    ///
    /// An integer in a job file, such as 0, fits every numeric type that can represent it.
    package static func fit(_ value: BSONValue, to type: SchemaType) -> BSONValue? {
        switch (type, value) {
        case (.long, .int(let number)): .long(Int64(number))
        case (.double, .int(let number)): .double(Double(number))
        case (.double, .long(let number)): Double(exactly: number).map { .double($0) }
        case (.decimal, .int(let number)): .decimal(Decimal128(Int64(number)))
        case (.decimal, .long(let number)): .decimal(Decimal128(number))
        case (.mixed, _), (.number, .int), (.number, .long), (.number, .double), (.number, .decimal): value
        case (.uuid, .binary(subtype: 4, let bytes)) where bytes.count == 16: value
        // A `nil` in place of `.none` would be the BSON value null.
        default: value.type.description == type.rawValue ? value : .none
        }
    }
}

extension BSONValue {
    /// Returns the value in a declared type; `nil` if the value does not fit that type.
    ///
    /// An integer such as 0 fits every numeric type that can represent it.
    package func fitted(to type: SchemaType) -> BSONValue? { StepFitting.fit(self, to: type) }
}

extension SchemaNode {
    /// Returns the schema of the field at a path; `nil` if the schema does not declare it.
    ///
    /// The path leads through embedded objects and, by `[]`, through the elements of lists and dictionaries.
    func property(at path: FieldPath) -> SchemaNode? {
        var node = self
        for name in path.components {
            let child = name == FieldPath.each ? node.element : node.property(name)
            guard let child else { return nil }
            node = child
        }
        return node
    }

    /// The paths of all declared fields, including those in embedded objects and in elements of lists and dictionaries.
    package var declaredPaths: [String] {
        properties.flatMap { property in
            [property.name] + property.node.innerPaths.map { property.name + $0 }
        }
    }

    /// The paths of the fields inside the value, as they are appended to the value's own path, such as `.name` or
    /// `[].name`.
    private var innerPaths: [String] {
        if !properties.isEmpty { return declaredPaths.map { ".\($0)" } }
        return element.map { [FieldPath.each] + $0.innerPaths.map { FieldPath.each + $0 } } ?? []
    }

    /// The schema of a list's elements or of a dictionary's values; `nil` for other types.
    ///
    /// The result is an empty schema if the list or dictionary has no schema for them.
    private var element: SchemaNode? {
        if types.contains(.array) {
            return if case .each(let node) = items { node } else { SchemaNode(location: location) }
        }
        guard types.contains(.object), properties.isEmpty else { return nil }
        return if case .schema(let node) = additionalProperties { node } else { SchemaNode(location: location) }
    }
}
