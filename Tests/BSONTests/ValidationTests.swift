import BSON
import Testing

@Suite struct ValidationTests {
    @Test func damageInsideIsFoundAtItsByte() {
        let inner = raw(element(0x02, "s", int32(7) + [0]))
        for type: UInt8 in [0x03, 0x04] {
            let bytes = raw(element(type, "x", inner))
            #expect(walkError(bytes) == nil)
            #expect(validationError(bytes)?.code == .truncated)
            #expect(validationError(bytes)?.offset == 14)
        }
    }

    @Test func theScopeOfCodeIsReadToo() {
        let scope = raw(element(0x08, "b", [2]))
        let bytes = raw(element(0x0F, "x", int32(9 + scope.count) + int32(1) + [0] + scope))
        #expect(validationError(bytes) == BSONError(.invalidBool, at: 23))
    }

    @Test(arguments: [UInt8(2), 0x80, 0xFF]) func aBoolIsZeroOrOne(_ byte: UInt8) {
        #expect(validationError(raw(element(0x08, "x", [byte]))) == BSONError(.invalidBool, at: 7))
    }

    @Test func textNeedNotBeUTF8() {
        #expect(validationError(raw(element(0x02, "x", int32(3) + [0xC3, 0x28, 0]))) == nil)
        #expect(validationError(raw([0x0A, 0xFF, 0])) == nil)
    }

    @Test func nestingHasALimit() {
        #expect(validationError(nested(BSONView.maximumDepth).bytes) == nil)
        #expect(validationError(nested(BSONView.maximumDepth + 1).bytes)?.code == .tooDeep)
        #expect(validationError(nested(20_000).bytes)?.code == .tooDeep)
    }
}
