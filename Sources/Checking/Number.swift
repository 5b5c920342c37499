import BSON

/// A number of any of the four numeric types, to decide which other type can hold it.
enum Number: Sendable, BitwiseCopyable {
    case integer(Int64)
    case double(Double)
    case decimal(DecimalParts)

    /// Reads a number.
    /// - Precondition: The element is of one of the four numeric types.
    init(_ element: BSONElement, of view: borrowing BSONView) {
        switch TypeMask(element.type) {
        case .int: self = .integer(Int64(view.int32(element)))
        case .long: self = .integer(view.int64(element))
        case .double: self = .double(view.double(element))
        default: self = .decimal(DecimalParts(view.decimal(element)))
        }
    }

    /// Returns ``Found/Detail/exact`` if the type `target` can hold the number exactly; otherwise the reason why not.
    ///
    /// The type `decimal` counts as able to hold every number.
    func fitness(for target: TypeMask) -> Found.Detail {
        switch target {
        case .decimal: .exact
        case .double: exactDouble == nil ? .inexact : .exact
        case .int: integerFitness(isInt32: true)
        default: integerFitness(isInt32: false)
        }
    }

    private func integerFitness(isInt32: Bool) -> Found.Detail {
        if isNaN { return .notANumber }
        if isInfinite { return .infinity }
        guard isIntegral else { return .fraction }
        guard let value = exactInt64 else { return .beyondInt64 }
        return isInt32 && Int32(exactly: value) == nil ? .beyondInt32 : .exact
    }

    private var isNaN: Bool {
        switch self {
        case .integer: false
        case .double(let value): value.isNaN
        case .decimal(let parts): parts.kind == .notANumber
        }
    }

    private var isInfinite: Bool {
        switch self {
        case .integer: false
        case .double(let value): value.isInfinite
        case .decimal(let parts): parts.kind == .infinity
        }
    }

    private var isIntegral: Bool {
        switch self {
        case .integer: true
        case .double(let value): value.rounded(.towardZero) == value
        case .decimal(let parts): parts.isIntegral
        }
    }

    /// The number as a 64-bit integer; `nil` if it is not a whole number, or too large.
    var exactInt64: Int64? {
        switch self {
        case .integer(let value): value
        case .double(let value): Int64(exactly: value)
        case .decimal(let parts): parts.exactInt64
        }
    }

    /// The double that has exactly this value, also for NaN and the infinities; `nil` if no double has it.
    var exactDouble: Double? {
        switch self {
        case .integer(let value): Double(exactly: value)
        case .double(let value): value
        case .decimal(let parts): parts.exactDouble
        }
    }
}
