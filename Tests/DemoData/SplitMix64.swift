/// A random number generator with a seed, which gives the same numbers on every machine.
///
/// The standard library has no generator that takes a seed. Source: Steele, Lea, Flood, "Fast splittable pseudorandom
/// number generators", 2014.
struct SplitMix64 {
    private var state: UInt64

    /// Makes the generator for one document; the generators of neighbouring documents are independent.
    init(collection: UInt64, index: Int) {
        state = collection &* 0xD1B5_4A32_D192_ED03 &+ UInt64(index) &* 0x8CB9_2BA7_2F3D_8DD7
        state = next()
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Returns a number from 0 to `bound` - 1.
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// Returns `true` with this probability per thousand.
    mutating func chance(_ perMille: Int) -> Bool { below(1000) < perMille }

    /// Returns a random element of the choices.
    mutating func pick<T>(_ choices: [T]) -> T { choices[below(choices.count)] }

    /// Returns the state of a field, which is missing or null with these probabilities per thousand.
    mutating func presence(missing: Int, null: Int) -> Presence {
        let draw = below(1000)
        return draw < missing ? .missing : draw < missing + null ? .null : .present
    }
}

/// The state of a field in a document.
enum Presence {
    case present, missing, null
}
