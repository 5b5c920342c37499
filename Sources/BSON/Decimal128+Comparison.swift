extension Decimal128 {
    /// Compares by value, as MongoDB does: NaN is equal to NaN and less than every number, and -0 equals 0.
    public func compared(to other: Decimal128) -> BSONOrder {
        if isNaN || other.isNaN { return BSONOrder(other.isNaN ? 1 : 0, isNaN ? 1 : 0) }
        if isZero && other.isZero { return .equal }
        let (sign, otherSign) = (signum, other.signum)
        guard sign == otherSign else { return BSONOrder(sign, otherSign) }
        return sign < 0 ? other.magnitudeCompared(to: self) : magnitudeCompared(to: other)
    }

    private var signum: Int { isZero ? 0 : isNegative ? -1 : 1 }

    /// Compares without signs; neither is NaN or zero.
    private func magnitudeCompared(to other: Decimal128) -> BSONOrder {
        if isInfinite || other.isInfinite { return BSONOrder(isInfinite ? 1 : 0, other.isInfinite ? 1 : 0) }
        let (left, right) = (coefficient, other.coefficient)
        let (leftDigits, rightDigits) = (left.decimalDigits, right.decimalDigits)
        let (leading, otherLeading) = (leftDigits + exponent, rightDigits + other.exponent)
        guard leading == otherLeading else { return BSONOrder(leading, otherLeading) }
        // The first digits stand at the same place, so that filling up the shorter one makes both equally long.
        let shift = rightDigits - leftDigits
        return BSONOrder(left * .powerOfTen(max(shift, 0)), right * .powerOfTen(max(-shift, 0)))
    }
}
