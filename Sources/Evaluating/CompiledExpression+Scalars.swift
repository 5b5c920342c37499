import BSON
import Patterns

/// Evaluates arithmetic operators.
extension CompiledExpression {
    func number(
        _ node: NodeID, _ document: borrowing BSONView, _ frame: inout Frame
    ) throws(NotEvaluated) -> Operand {
        switch table[node] {
        case .absolute(let subject):
            guard let value = try numeric(subject, document, &frame) else { return .value(.null) }
            switch value {
            case .int(let number): return .value(.integer(abs(Int(number))))
            case .long(.min): throw NotEvaluated(.failure)
            case .long(let number): return .value(.long(abs(number)))
            case .double(let number): return .value(.double(abs(number)))
            default: throw NotEvaluated(.version)
            }
        case .rounded(let subject):
            guard let value = try numeric(subject, document, &frame) else { return .value(.null) }
            switch value {
            case .int, .long: return .value(value)
            case .double(let number): return .value(.double(number.rounded(.toNearestOrEven)))
            default: throw NotEvaluated(.version)
            }
        case .product(let left, let right):
            guard let left = try numeric(left, document, &frame), let right = try numeric(right, document, &frame)
            else { return .value(.null) }
            return .value(try Self.product(left, right))
        case .quotient(let left, let right):
            guard let left = try numeric(left, document, &frame), let right = try numeric(right, document, &frame)
            else { return .value(.null) }
            return .value(try Self.quotient(left, right))
        default: throw NotEvaluated(.failure)
        }
    }

    /// Returns the number that a node evaluates to; `nil` if the value is missing, null or undefined.
    private func numeric(
        _ node: NodeID, _ document: borrowing BSONView, _ frame: inout Frame
    ) throws(NotEvaluated) -> BSONValue? {
        let operand = try value(node, document, &frame)
        if operand.isNullish { return nil }
        guard let value = try operand.value(in: document), BSONNumber(value) != nil else {
            throw NotEvaluated(.failure)
        }
        return value
    }

    private static func product(_ left: BSONValue, _ right: BSONValue) throws(NotEvaluated) -> BSONValue {
        switch (BSONNumber(left), BSONNumber(right)) {
        case (.integer(let one)?, .integer(let two)?):
            let (product, overflows) = one.multipliedReportingOverflow(by: two)
            // If the product does not fit a 64-bit integer, the type of the result depends on the server's version.
            guard !overflows else { throw NotEvaluated(.version) }
            return left.type == .int && right.type == .int ? .integer(Int(product)) : .long(product)
        case (.double(let one)?, .double(let two)?): return .double(one * two)
        case (.double(let one)?, .integer(let two)?), (.integer(let two)?, .double(let one)?):
            return .double(one * Double(two))
        default: throw NotEvaluated(.version)
        }
    }

    private static func quotient(_ left: BSONValue, _ right: BSONValue) throws(NotEvaluated) -> BSONValue {
        func double(_ value: BSONValue) -> Double? {
            switch BSONNumber(value) {
            case .integer(let number): Double(number)
            case .double(let number): number
            default: nil
            }
        }
        guard let one = double(left), let two = double(right), two != 0 else { throw NotEvaluated(.version) }
        return .double(one / two)
    }
}

/// Evaluates the operators on texts.
extension CompiledExpression {
    func text(
        _ node: NodeID, _ document: borrowing BSONView, _ frame: inout Frame
    ) throws(NotEvaluated) -> Operand {
        switch table[node] {
        case .concat(let parts):
            var text = ""
            for place in parts {
                let operand = try value(table[operand: place], document, &frame)
                if operand.isNullish { return .value(.null) }
                text += try string(operand, document)
            }
            return .value(.string(text))
        case .split(let subject, let separator):
            let (subject, separator) = (try value(subject, document, &frame), try value(separator, document, &frame))
            if subject.isNullish || separator.isNullish { return .value(.null) }
            let mark = try string(separator, document)
            guard !mark.isEmpty else { throw NotEvaluated(.failure) }
            return .value(.array(of: Self.parts(of: try string(subject, document), mark).map { .string($0) }))
        case .byteCount(let subject):
            let operand = try value(subject, document, &frame)
            if case .element(let element) = operand, element.type == .string {
                return .value(.int(Int32(element.valueLength - 5)))
            }
            return .value(.int(Int32(try string(operand, document).utf8.count)))
        case .byteIndex(let subject, let token, let from, let to):
            let operand = try value(subject, document, &frame)
            if operand.isNullish { return .value(.null) }
            let text = Array(try string(operand, document).utf8)
            let token = Array(try string(try value(token, document, &frame), document).utf8)
            let start = try from.map { node throws(NotEvaluated) in try index(node, document, &frame) } ?? 0
            let end = try to.map { node throws(NotEvaluated) in try index(node, document, &frame) } ?? text.count
            return .value(.int(Self.index(of: token, in: text, from: start, to: min(end, text.count))))
        case .bytes(let subject, let from, let count):
            let operand = try value(subject, document, &frame)
            let text = operand.isNullish ? [] : Array(try string(operand, document).utf8)
            let (from, count) = (try index(from, document, &frame), try index(count, document, &frame))
            guard from < text.count else { return .value(.string("")) }
            let part = text[from..<min(text.count, from + count)]
            // The server refuses a substring that begins or ends inside a UTF-8 character.
            guard let cut = String(validating: part, as: UTF8.self) else { throw NotEvaluated(.failure) }
            return .value(.string(cut))
        case .trimmedEnd(let subject, let characters):
            let operand = try value(subject, document, &frame)
            if operand.isNullish { return .value(.null) }
            let characters = Set(try string(try value(characters, document, &frame), document).unicodeScalars)
            var text = try string(operand, document).unicodeScalars
            while let last = text.last, characters.contains(last) { text.removeLast() }
            return .value(.string(String(text)))
        case .matches(let subject, let pattern):
            let operand = try value(subject, document, &frame)
            if operand.isNullish { return .value(.bool(false)) }
            let text = try string(operand, document)
            do throws(PatternError) {
                return .value(.bool(try table.patterns[Int(pattern)].matches(text)))
            } catch {
                throw NotEvaluated(.version)
            }
        default: throw NotEvaluated(.failure)
        }
    }

    /// Returns the parts of a text between the occurrences of the separator `mark`, found by comparing bytes.
    private static func parts(of text: String, _ mark: String) -> [String] {
        let (bytes, mark) = (Array(text.utf8), Array(mark.utf8))
        var parts: [String] = []
        var start = 0
        while true {
            let found = Int(index(of: mark, in: bytes, from: start, to: bytes.count))
            parts.append(String(decoding: bytes[start..<(found < 0 ? bytes.count : found)], as: UTF8.self))
            if found < 0 { return parts }
            start = found + mark.count
        }
    }

    /// Returns the text of a string value; throws for a value of another type.
    ///
    /// Also throws if the bytes are not UTF-8, because not all operators of the server treat such bytes in the same
    /// way.
    private func string(_ operand: Operand, _ document: borrowing BSONView) throws(NotEvaluated) -> String {
        guard operand.type == .string else { throw NotEvaluated(.failure) }
        guard let text = try operand.text(in: document) else { throw NotEvaluated(.version) }
        return text
    }

    /// Returns the `int` or `long` that a node evaluates to; throws if it is negative, or the value has another type.
    private func index(
        _ node: NodeID, _ document: borrowing BSONView, _ frame: inout Frame
    ) throws(NotEvaluated) -> Int {
        guard case .integer(let number)? = try value(node, document, &frame).number(in: document), number >= 0 else {
            throw NotEvaluated(.failure)
        }
        return Int(number)
    }

    private static func index(of token: [UInt8], in text: [UInt8], from start: Int, to end: Int) -> Int32 {
        guard start <= text.count, start <= end else { return -1 }
        var at = start
        while at + token.count <= end {
            if text[at..<at + token.count].elementsEqual(token) { return Int32(at) }
            at += 1
        }
        return -1
    }
}
