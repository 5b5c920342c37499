import BSON
import LocatedYAML
import ServerSchema

/// Fits a step to the schemas: a target has to be declared, and a constant has to have the declared type.
enum StepFitting {
    static func fit(
        _ located: Job.LocatedStep, active: SchemaNode?, next: SchemaNode?
    ) throws(JobError) -> Step {
        let step = located.step
        guard let schema = next ?? active else { return step }
        let target = step.target
        guard let node = schema.property(at: target) ?? active?.property(at: target) else {
            let names = schema.declaredPaths + (active?.declaredPaths ?? [])
            let hint = Spelling.hint(for: target.description, among: names).map { " (\($0))" } ?? ""
            throw JobError("no schema of the job declares the field \"\(target)\"\(hint)", at: located.location)
        }
        // Only the next schema says what the job has to produce.
        guard next?.property(at: target) != nil, node.types.count == 1, let type = node.types.first else { return step }
        return Step(try step.kind.fitted(to: type, at: located.location))
    }

    /// The value as the declared type, where that is exact: the 0 of a job file serves every numeric type.
    static func fit(_ value: BSONValue, to type: SchemaType) -> BSONValue? {
        switch (type, value) {
        case (.long, .int(let number)): .long(Int64(number))
        case (.double, .int(let number)): .double(Double(number))
        case (.double, .long(let number)): Double(exactly: number).map { .double($0) }
        case (.decimal, .int(let number)): .decimal(Decimal128(Int64(number)))
        case (.decimal, .long(let number)): .decimal(Decimal128(number))
        case (.mixed, _), (.number, .int), (.number, .long), (.number, .double), (.number, .decimal): value
        case (.uuid, .binary(subtype: 4, let bytes)) where bytes.count == 16: value
        // `nil` alone would be the null value.
        default: value.type.description == type.rawValue ? value : .none
        }
    }
}

extension SchemaNode {
    /// The schema of a field, through embedded objects alone.
    func property(at path: FieldPath) -> SchemaNode? {
        var node = self
        for name in path.components {
            guard let child = node.properties.first(where: { $0.name == name }) else { return nil }
            node = child.node
        }
        return node
    }

    /// The fields of the schema and of its embedded objects.
    var declaredPaths: [String] {
        properties.flatMap { property in
            [property.name] + property.node.declaredPaths.map { "\(property.name).\($0)" }
        }
    }
}
