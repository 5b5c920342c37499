import BSON
import Patterns
import ServerSchema

/// Flattens a schema of the `jsonschema` dialect into the arrays of a ``JSONSchemaPlan``.
struct JSONSchemaCompiler {
    var plan = JSONSchemaPlan()

    init(root: SchemaNode) {
        let index = reserve(1, parent: -1, path: SchemaPath())
        compile(root, at: index, step: .root, isWhole: true)
    }

    /// Makes room for nodes that must stand side by side.
    mutating func reserve(_ count: Int, parent: Int, path: SchemaPath) -> Int {
        let first = plan.nodes.count
        for _ in 0..<count {
            plan.nodes.append(JSONSchemaPlan.Node())
            plan.origins.append(
                JSONSchemaPlan.Origin(
                    schema: SchemaNode(location: SourceLocation(whole: "")), path: path, parent: Int32(parent),
                    step: .root))
        }
        return first
    }

    /// - Parameter isWhole: whether the schema judges a document as a whole, for which keywords of scalars and arrays
    ///   say nothing: mongod does not even compile their patterns.
    mutating func compile(
        _ schema: SchemaNode, at index: Int, step: JSONSchemaPlan.Origin.Step, isWhole: Bool
    ) {
        plan.origins[index].schema = schema
        plan.origins[index].step = step
        var node = JSONSchemaPlan.Node()
        if !schema.types.isEmpty {
            node.isStated = true
            node.isSingle = schema.types.count == 1
            node.accepts = TypeMask(schema.types.map { TypeMask($0) })
        }
        if !isWhole {
            compileNumbers(schema.constraints, into: &node)
            compileStrings(schema.constraints, into: &node)
            compileArrays(schema, of: index, into: &node)
        }
        compileObjects(schema, of: index, into: &node, isWhole: isWhole)
        compileValues(schema, of: index, into: &node, isWhole: isWhole)
        node.plain = Self.plainTypes(of: node)
        plan.nodes[index] = node
    }

    /// The types that fit without a further look at the value.
    static func plainTypes(of node: JSONSchemaPlan.Node) -> TypeMask {
        if node.values >= 0 { return [] }
        var plain = node.accepts
        if node.numbers >= 0 { plain.subtract(.numbers) }
        if node.strings >= 0 { plain.remove(.string) }
        if node.arrays >= 0 { plain.remove(.array) }
        if node.objects >= 0 { plain.remove(.object) }
        return plain
    }

    mutating func child(
        _ schema: SchemaNode, of index: Int, path: SchemaPath, step: JSONSchemaPlan.Origin.Step, isWhole: Bool = false
    ) -> Int32 {
        let child = reserve(1, parent: index, path: path)
        compile(schema, at: child, step: step, isWhole: isWhole)
        return Int32(child)
    }

    mutating func pattern(_ text: String, mode: Pattern.Mode) -> Int32 {
        do throws(PatternError) {
            plan.patterns.append(try Pattern(text, mode: mode))
        } catch {
            preconditionFailure("the reader compiled this pattern before: \(error)")
        }
        return Int32(plan.patterns.count - 1)
    }
}
