package import BSON
package import Jobs

/// An aggregation expression that the client evaluates exactly as the server does, or refuses to evaluate.
///
/// The evaluation throws ``NotEvaluated`` if the result depends on the server's version, or if the evaluation reaches
/// an unknown operator. `EvaluatorConformanceTests` compares the results with the server's. The client evaluates
/// nothing for a collection with a collation.
package final class CompiledExpression: Sendable {
    let table: NodeTable
    private let root: NodeID
    /// The top-level fields that this expression reads, and those of the expressions compiled before it in the same
    /// group.
    private let group: SharedFields
    /// The names of the document's fields that the expression reads through ``Node/field(_:_:)``.
    private let names: [String]
    /// Whether the expression reads more of the document than the fields of ``names``.
    private let readsMore: Bool

    /// Compiles an expression; an unknown operator or variable in it throws only when the evaluation of a document
    /// reaches it.
    package convenience init(_ expression: Expression) {
        var group = SharedFields()
        self.init(expression, in: &group)
    }

    /// Compiles an expression of a group, whose expressions can be evaluated in one ``Frame``.
    package init(_ expression: Expression, in group: inout SharedFields) {
        var compiler = ExpressionCompiler(group)
        root = compiler.compile(expression.bson)
        (table, names, readsMore) = (compiler.table, compiler.fieldNames, compiler.readsMore)
        group = compiler.group
        self.group = group
    }

    package func holds(for document: borrowing BSONView) throws(NotEvaluated) -> Bool {
        var frame = try frame(for: document)
        return try holds(for: document, in: &frame)
    }

    /// Whether the expression holds for a document; `frame` must already have located the document's fields.
    package func holds(for document: borrowing BSONView, in frame: inout Frame) throws(NotEvaluated) -> Bool {
        try truth(root, document, &frame)
    }

    /// Returns the value of the expression for a document; `nil` if the value is missing.
    package func value(for document: borrowing BSONView) throws(NotEvaluated) -> BSONValue? {
        var frame = try frame(for: document)
        return try operand(for: document, in: &frame).value(in: document)
    }

    /// Returns the value of the expression for a document; a value that is in the document is not copied.
    ///
    /// `frame` must already have located the document's fields.
    func operand(for document: borrowing BSONView, in frame: inout Frame) throws(NotEvaluated) -> Operand {
        try value(root, document, &frame)
    }

    private func frame(for document: borrowing BSONView) throws(NotEvaluated) -> Frame {
        var frame = group.frame()
        try frame.locate(group, in: document)
        return frame
    }

    /// Whether the value of the expression may depend on the top-level field `name`.
    func mayRead(_ name: String) -> Bool { readsMore || names.contains { $0.utf8.elementsEqual(name.utf8) } }
}

/// Evaluates the nodes of an expression as values.
extension CompiledExpression {
    private func name(_ place: Int32) -> String { table.names[Int(place)] }

    func value(
        _ node: NodeID, _ document: borrowing BSONView, _ frame: inout Frame
    ) throws(NotEvaluated) -> Operand {
        switch table[node] {
        case .constant(let place): return .value(table.constants[Int(place)])
        case .missing: return .missing
        case .path(let base, let names): return try follow(names, from: base, document, frame)
        case .field(let index, let names):
            guard let element = frame.fields[Int(index)] else { return .missing }
            return names.isEmpty ? .element(element) : try follow(names, from: .element(element), document)
        case .all, .any, .not, .hasType, .fieldHasType, .compare, .isAmong, .isSame, .someElement, .everyElement,
            .changesByMerging:
            return .value(.bool(try truth(node, document, &frame)))
        case .type(let subject):
            return .value(.string(try value(subject, document, &frame).type?.description ?? "missing"))
        case .choose(let condition, let then, let other):
            return try truth(condition, document, &frame)
                ? value(then, document, &frame) : value(other, document, &frame)
        case .firstPresent(let parts):
            let last = parts.upperBound - 1
            for place in parts.lowerBound..<last {
                let found = try value(table[operand: place], document, &frame)
                if !found.isNullish { return found }
            }
            return try value(table[operand: last], document, &frame)
        case .bind(let values, let slot, let body):
            try bind(values, from: slot, document, &frame)
            return try value(body, document, &frame)
        case .array, .map, .filter: return try list(node, document, &frame)
        case .object(let names, let values):
            var builder = BSONBuilder()
            for (name, place) in zip(names, values) {
                builder.append(self.name(name), try value(table[operand: place], document, &frame), of: document)
            }
            return .value(.object(builder.finish()))
        case .entries(let subject): return try entries(of: value(subject, document, &frame), document)
        case .fromEntries(let list): return try object(of: value(list, document, &frame), document)
        case .merged(let parts): return try merged(parts, document, &frame)
        case .element(let list, let place):
            return try element(of: value(list, document, &frame), at: value(place, document, &frame), document)
        case .count(let list):
            var count = 0
            try eachElement(of: list, document, &frame) { _, _, _ in count += 1 }
            return .value(.int(Int32(count)))
        case .zip(let inputs): return try zipped(inputs, document, &frame)
        case .size(let subject): return try size(of: value(subject, document, &frame), document)
        case .absolute, .rounded, .product, .quotient: return try number(node, document, &frame)
        case .concat, .split, .byteCount, .byteIndex, .bytes, .trimmedEnd, .matches:
            return try text(node, document, &frame)
        case .convert(let input, let target, let onError, let onNull):
            return try convert(input, to: target, onError: onError, onNull: onNull, document, &frame)
        case .unknown(let place): throw NotEvaluated(.operation(name(place)))
        }
    }

    // MARK: Paths

    private func follow(
        _ names: Node.Names, from base: Node.Base, _ document: borrowing BSONView, _ frame: Frame
    ) throws(NotEvaluated) -> Operand {
        switch base {
        case .variable(let slot): return try follow(names, from: frame.slots[Int(slot)], document)
        case .root:
            guard let first = names.first else { return .value(.object(BSONDocument(copying: document))) }
            guard let element = try find(name(first), in: document) else { return .missing }
            return try follow(names.dropFirst(), from: .element(element), document)
        }
    }

    /// Returns the value at a path in an object.
    ///
    /// For an array, returns an array of the values that the path has in the array's objects, and skips the other
    /// elements.
    private func follow(
        _ names: Node.Names, from operand: Operand, _ document: borrowing BSONView
    ) throws(NotEvaluated) -> Operand {
        guard let first = names.first else { return operand }
        switch operand {
        case .element(let element) where element.type == .object:
            guard let inner = try find(name(first), in: try view(of: element, document)) else { return .missing }
            return try follow(names.dropFirst(), from: .element(inner), document)
        case .value(.object(let object)):
            guard let inner = try find(name(first), in: object.view) else { return .missing }
            let value: BSONValue
            do { value = try object.view.value(inner) } catch { throw NotEvaluated(.damage) }
            return try follow(names.dropFirst(), from: .value(value), document)
        case _ where operand.type == .array:
            var none = Frame()
            var found: [BSONValue] = []
            try eachElement(of: operand, document, &none) { item, _, document throws(NotEvaluated) in
                guard item.type == .object, let value = try follow(names, from: item, document).value(in: document)
                else { return }
                found.append(value)
            }
            return .value(.array(of: found))
        default: return .missing
        }
    }

    private func find(_ name: String, in view: borrowing BSONView) throws(NotEvaluated) -> BSONElement? {
        do { return try view.find(name) } catch { throw NotEvaluated(.damage) }
    }

    // MARK: Lists and objects

    private func list(
        _ node: NodeID, _ document: borrowing BSONView, _ frame: inout Frame
    ) throws(NotEvaluated) -> Operand {
        switch table[node] {
        case .map(let input, _, _), .filter(let input, _, _):
            // `$map` and `$filter` return null for a null or missing input. Two kinds of input need no test for null:
            // an array literal is never null, and for a `$cond` that is null, `eachElement` throws.
            if case .array = table[input] { break }
            if case .choose = table[input] { break }
            if try value(input, document, &frame).isNullish { return .value(.null) }
        default: break
        }
        var builder = BSONBuilder()
        var count = 0
        try eachElement(of: node, document, &frame) { element, _, document throws(NotEvaluated) in
            builder.append(String(count), element, of: document)
            count += 1
        }
        return .value(.array(builder.finish()))
    }

    /// Returns the fields of an object as an array of objects with `k` and `v`, as `$objectToArray` does.
    private func entries(of object: Operand, _ document: borrowing BSONView) throws(NotEvaluated) -> Operand {
        if object.isNullish { return .value(.null) }
        var builder = BSONBuilder()
        var count = 0
        switch object {
        case .element(let element) where element.type == .object:
            try entries(of: try view(of: element, document), into: &builder, &count)
        case .value(.object(let object)): try entries(of: object.view, into: &builder, &count)
        default: throw NotEvaluated(.failure)
        }
        return .value(.array(builder.finish()))
    }

    private func entries(
        of view: borrowing BSONView, into list: inout BSONBuilder, _ count: inout Int
    ) throws(NotEvaluated) {
        var position = view.firstPosition
        while let element = try view.nextElement(&position) {
            var entry = BSONBuilder()
            entry.append("k", .string(try view.text(ofNameOf: element)))
            entry.append("v", element, of: view)
            list.append(String(count), .object(entry.finish()))
            count += 1
        }
    }

    /// Returns the object that an array of objects with `k` and `v` describes, as `$arrayToObject` does.
    private func object(of list: Operand, _ document: borrowing BSONView) throws(NotEvaluated) -> Operand {
        if list.isNullish { return .value(.null) }
        var fields = MergedFields()
        var none = Frame()
        try eachElement(of: list, document, &none) { entry, _, document throws(NotEvaluated) in
            guard case .object(let entry)? = try entry.value(in: document), case .string(let name)? = entry["k"],
                let value = entry["v"], !name.utf8.contains(0)
            else { throw NotEvaluated(.failure) }
            fields.set(name, to: value)
        }
        return .value(.object(fields.document))
    }

    private func merged(
        _ parts: Node.Operands, _ document: borrowing BSONView, _ frame: inout Frame
    ) throws(NotEvaluated) -> Operand {
        var merged: BSONDocument?
        for place in parts {
            let operand = try value(table[operand: place], document, &frame)
            if operand.isNullish { continue }
            switch operand {
            case .element(let element) where element.type == .object:
                merged = try MergedFields.merged(merged, with: try view(of: element, document))
            case .value(.object(let object)): merged = try MergedFields.merged(merged, with: object.view)
            default: throw NotEvaluated(.failure)
            }
        }
        return .value(.object(merged ?? [:]))
    }

    private func element(
        of list: Operand, at place: Operand, _ document: borrowing BSONView
    ) throws(NotEvaluated) -> Operand {
        if list.isNullish || place.isNullish { return .value(.null) }
        guard case .integer(let index)? = place.number(in: document) else { throw NotEvaluated(.failure) }
        var none = Frame()
        var elements: [Operand] = []
        try eachElement(of: list, document, &none) { element, _, _ in elements.append(element) }
        let wanted = index < 0 ? Int(index) + elements.count : Int(index)
        return elements.indices.contains(wanted) ? elements[wanted] : .missing
    }

    private func zipped(
        _ inputs: Node.Operands, _ document: borrowing BSONView, _ frame: inout Frame
    ) throws(NotEvaluated) -> Operand {
        var lists: [[BSONValue]] = []
        for place in inputs {
            let list = try value(table[operand: place], document, &frame)
            if list.isNullish { return .value(.null) }
            var elements: [BSONValue] = []
            var none = Frame()
            try eachElement(of: list, document, &none) { element, _, document throws(NotEvaluated) in
                elements.append(try element.value(in: document) ?? .null)
            }
            lists.append(elements)
        }
        let count = lists.map(\.count).min() ?? 0
        return .value(.array(of: (0..<count).map { index in .array(of: lists.map { $0[index] }) }))
    }

    private func size(of object: Operand, _ document: borrowing BSONView) throws(NotEvaluated) -> Operand {
        if object.isNullish { return .value(.null) }
        switch object {
        case .element(let element) where element.type == .object:
            return .value(.int(Int32(element.valueLength)))
        case .value(.object(let object)): return .value(.int(Int32(object.bytes.count)))
        default: throw NotEvaluated(.failure)
        }
    }

    private func convert(
        _ input: NodeID, to target: NodeID, onError: NodeID?, onNull: NodeID?, _ document: borrowing BSONView,
        _ frame: inout Frame
    ) throws(NotEvaluated) -> Operand {
        let operand = try value(input, document, &frame)
        let target = try value(target, document, &frame)
        if target.isNullish { return .value(.null) }
        guard let name = try target.text(in: document) else { throw NotEvaluated(.operation("$convert")) }
        guard let value = try operand.value(in: document), !operand.isNullish else {
            return try onNull.map { node throws(NotEvaluated) in try self.value(node, document, &frame) }
                ?? .value(.null)
        }
        switch try TypeConversion.converted(value, to: name) {
        case .some(let result): return .value(result)
        case .none:
            guard let onError else { throw NotEvaluated(.failure) }
            return try self.value(onError, document, &frame)
        }
    }
}
