import BSON
import Testing

/// Tests the order of values.
///
/// For unusual values, the expected order is that of mongod 6.0.5, from `$cmp` and from an index.
@Suite struct OrderTests {
    /// One value of each type, in mongod's order.
    ///
    /// If mongod sorts values of several types together, such as the types of numbers, the list has a value of only one
    /// of these types.
    static let byType: [BSONValue] = [
        .minKey, .undefined, .null, .int(7), .string("s"), ["a": 1], [1], .binary(subtype: 0, bytes: []),
        .objectID(ObjectID(high: 0, low: 0)), false, .date(milliseconds: 0), .timestamp(0),
        .regex(pattern: "", options: ""), .dbPointer("", ObjectID(high: 0, low: 0)), .javascript(""),
        .javascriptWithScope("", [:]), .maxKey,
    ]

    @Test func typesHaveAFixedOrder() {
        #expect(Self.byType.shuffled().sorted(by: BSONOrder.precedes) == Self.byType)
        for (index, left) in Self.byType.enumerated() {
            for (otherIndex, right) in Self.byType.enumerated() {
                #expect(left.compared(to: right).rawValue == (index - otherIndex).signum())
            }
        }
    }

    /// In each row, every value is greater than the one before it.
    static let ascending: [[BSONValue]] = [
        // Numbers of all types are compared by their exact values, without rounding.
        [.double(.nan), .double(-.infinity), .long(.min), .int(-1), .double(-0.5), .int(0), .double(0.5), .long(1)],
        [.long(1 << 53), .long(1 << 53 + 1), .double(0x1p53 + 2)],
        [.long(.max - 1), .long(.max), decimal("9223372036854775807.5"), .double(0x1p63), .double(.infinity)],
        [decimal("-Infinity"), .double(-.greatestFiniteMagnitude), decimal("-1E-6176"), .int(0)],
        [.double(.greatestFiniteMagnitude), decimal("1E+309"), decimal("9E+6144"), .double(.infinity)],
        // The double 0.1 is between the two nearest decimals of 34 digits, and equals neither.
        [
            decimal("0.1"), decimal("0.1000000000000000055511151231257827"), .double(0.1),
            decimal("0.1000000000000000055511151231257828"),
        ],
        [
            decimal("-0.1000000000000000055511151231257828"), .double(-0.1),
            decimal("-0.1000000000000000055511151231257827"),
        ],
        [.int(0), .double(.leastNonzeroMagnitude), decimal("4.940656458412465441765687928682214E-324")],
        // Texts are ordered by their UTF-8 bytes, without a locale; a NUL is a byte like any other.
        ["", "B", "a", "a\u{0}", "a\u{0}b", "ab", "z", "é", "\u{FFFF}", "𝄞"],
        // Binary data is ordered first by length, then by subtype, then by bytes.
        [binary(9, []), binary(0, [255]), binary(1, [0]), binary(0x80, [0]), binary(0, [0, 0])],
        [.date(milliseconds: .min), .date(milliseconds: -1), .date(milliseconds: 0), .date(milliseconds: .max)],
        [.timestamp(0), .timestamp(1 << 32), .timestamp(.max)],
        [id(0, 1), id(0, .max), id(1, 0), id(1 << 63, 0)],
        [.regex(pattern: "a", options: "x"), .regex(pattern: "ab", options: ""), .regex(pattern: "ab", options: "i")],
        [.dbPointer("z", ObjectID(high: 9, low: 0)), .dbPointer("aa", ObjectID(high: 0, low: 0))],
        [.javascriptWithScope("a", ["z": 9]), .javascriptWithScope("b", [:]), .javascriptWithScope("b", ["a": 1])],
        // Fields are compared first by type, then by name, then by value. If one document ends first, it comes first.
        [[:], ["b": 1], ["b": 1, "a": nil], ["b": 2], ["a": "x"], ["a": [:]]],
        [["z": nil], ["a": .int(.min)], ["b": .int(.min)]],
        // The elements of an array have no names to compare.
        [[], [nil], [1], [1, nil], [1, 1], [2], ["a"], [[]]],
    ]

    @Test(arguments: ascending) func valuesOfOneTypeHaveAnOrder(_ row: [BSONValue]) {
        for (index, left) in row.enumerated() {
            for (otherIndex, right) in row.enumerated() {
                #expect(left.compared(to: right).rawValue == (index - otherIndex).signum(), "\(left) to \(right)")
            }
        }
    }

    /// In each row, all values equal each other.
    static let equals: [[BSONValue]] = [
        [.int(0), .long(0), .double(0), .double(-0.0), decimal("0"), decimal("-0E+6111"), decimal("0E-6176")],
        [.int(1), .long(1), .double(1), decimal("1"), decimal("1.000"), decimal("0.1E+1")],
        [.double(.nan), .double(-.nan), decimal("NaN"), .decimal(Decimal128(high: 0xFE00_0000_0000_0000, low: 3))],
        [.double(.infinity), decimal("Infinity")],
        [.double(1e23), decimal("99999999999999991611392")],
        [.double(0x1p63), decimal("9223372036854775808")],
        ["a", .symbol("a")],
        [["a": 1], ["a": .double(1)]],
        [.array(["0": 1]), .array(["x": 1])],
    ]

    @Test(arguments: equals) func differentBytesMayBeEqual(_ row: [BSONValue]) {
        for left in row {
            for right in row { #expect(left.compared(to: right) == .equal, "\(left) to \(right)") }
        }
    }

    @Test func elementsAreComparedInPlace() throws {
        let document: BSONDocument = ["a": ["x": 1], "b": ["x": .double(1.5)]]
        let view = document.view
        let (a, b) = (try #require(try view.find("a")), try #require(try view.find("b")))
        #expect(view.compare(a, to: b, of: view) == .less)
        #expect(view.compare(b, to: a, of: view) == .greater)
    }

    @Test func damageCountsAsTheEnd() throws {
        let damaged = try BSONDocument(bytes: raw(element(0x10, "a", int32(1)) + element(0x02, "b", int32(99))))
        let good: BSONDocument = ["a": 1]
        #expect(BSONValue.object(damaged).compared(to: .object(good)) == .equal)
        #expect(BSONValue.object(damaged).compared(to: ["a": 1, "b": "x"]) == .less)
    }

    @Test func endlessNestingIsNotFollowed() {
        let deep = BSONValue.object(nested(20_000))
        #expect(deep.compared(to: deep) == .equal)
    }

    static func decimal(_ text: String) -> BSONValue { Decimal128(text).map { .decimal($0) } ?? .maxKey }
    static func binary(_ subtype: UInt8, _ bytes: [UInt8]) -> BSONValue { .binary(subtype: subtype, bytes: bytes) }
    static func id(_ high: UInt64, _ low: UInt32) -> BSONValue { .objectID(ObjectID(high: high, low: low)) }
}
