extension CompiledSchema {
    /// What one value must be, flattened: every node stands at one place of the schema's tree.
    struct Node: Sendable, BitwiseCopyable {
        /// The types that the schema names; all of them when it names none.
        var accepts: TypeMask = .all
        /// Those of them that need no further look.
        var plain: TypeMask = []
        var flags: Flags = []
        var place: Place = .field
        /// The named fields, and the required names that the schema does not define.
        var fields = FieldRange()
        /// The required fields among the first 64, a bit each.
        var required: UInt64 = 0
        var requiredCount: Int32 = 0
        /// The node of an array's elements, or the first of a tuple's.
        var items: Int32 = -1
        var tupleCount: Int32 = 0
        /// The node of the values that `properties` does not name.
        var additional: Int32 = -1
    }

    /// Where in its parent a value stands.
    enum Place: UInt8, Sendable, BitwiseCopyable {
        case root, id, field, element, dictionaryValue
    }

    struct Flags: OptionSet, Sendable, BitwiseCopyable {
        let rawValue: UInt32
        /// The value's field is required.
        static var required: Self { Self(rawValue: 1) }
        /// The value's parent is not the document itself.
        static var embedded: Self { Self(rawValue: 2) }
        static var mixed: Self { Self(rawValue: 4) }
        static var uuid: Self { Self(rawValue: 8) }
        static var binary: Self { Self(rawValue: 16) }
        static var set: Self { Self(rawValue: 32) }
        static var dictionary: Self { Self(rawValue: 64) }
        static var geoPoint: Self { Self(rawValue: 128) }
        /// Below a tuple: the folded path stands for more places than the node.
        static var inTuple: Self { Self(rawValue: 256) }
        /// `additionalProperties` is false.
        static var closed: Self { Self(rawValue: 512) }
        /// Which fields are additional cannot be told, because a keyword that decides it is not evaluated.
        static var ignoresExtras: Self { Self(rawValue: 1024) }
        /// The schema names `null` among the types, or no type at all.
        static var nullable: Self { Self(rawValue: 2048) }
        /// The value is the key of a document of another collection.
        static var link: Self { Self(rawValue: 4096) }
        /// The value says to which partition the document belongs.
        static var partition: Self { Self(rawValue: 8192) }
        /// A document without that value is in no partition.
        static var partitionRequired: Self { Self(rawValue: 16384) }
    }

    /// A field of an object.
    struct Field: Sendable, BitwiseCopyable {
        var node: Int32
        /// The position among the object's required fields; -1 when it is optional.
        var requiredIndex: Int32 = -1
        /// The bit of ``Node/required``, when the position is below 64.
        var requiredBit: UInt64 = 0
        /// Whether `properties` names it; `required` alone does not.
        var isDeclared = true
        var whenMissing: WhenMissing = .certain
    }

    /// What it means that a required field is absent.
    enum WhenMissing: Sendable, BitwiseCopyable {
        case certain
        /// Collections: the sync engine leaves out empty ones.
        case possible
        /// A usable default stands in.
        case defaulted
        /// The default is of another type: clients see an error.
        case unusableDefault(type: UInt8)
        /// The document is in no partition, or where that is allowed in the null partition.
        case unpartitioned(isAllowed: Bool)
    }
}
