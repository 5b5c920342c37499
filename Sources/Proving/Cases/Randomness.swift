/// A sequence of random numbers that its seed determines (SplitMix64).
package struct Randomness: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Starts the sequence for a seed.
    package init(seed: UInt64) { state = seed }

    /// Returns the next number of the sequence.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    package mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    /// Returns `true` with this probability in percent.
    package mutating func percent(_ chance: Int) -> Bool { below(100) < chance }

    /// Returns a random element of a list that is not empty.
    package mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}
