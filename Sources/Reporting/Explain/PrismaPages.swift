/// The pages on the rules for Prisma.
enum PrismaPages {
    /// The pages on the rules for documents that a Prisma client reads.
    static let documents = Explanation.pages(
        of: .prisma,
        #"""
        type-mismatch
        level: certain
        what it means: The client does not read the type
        example: `age Int`: `{age: "31"}`
        remedy: `convert`
        Prisma's error: P2023, *Failed to convert*

        required-missing
        level: certain
        what it means: A required field without a constant default is missing
        example: `email String`: `{}`
        remedy: `default`
        Prisma's error: P2032, *found incompatible value of "null"*

        required-null
        level: certain
        what it means: It is null
        example: `{email: null}`
        remedy: `default` with `when: missingOrNull`
        Prisma's error: P2032

        required-missing-defaulted
        level: info
        what it means: It is missing, and the client reads the constant `@default`
        example: `n Int @default(0)`: `{}`
        remedy: none; `default` to store it

        required-null-defaulted
        level: info
        what it means: It is null, and the client reads the constant `@default`
        example: `{n: null}`
        remedy: none

        embedded-required-missing
        level: certain
        what it means: A required field is missing inside a `type`
        example: `{address: {}}`
        remedy: `default` with the path
        Prisma's error: P2032

        embedded-required-null
        level: certain
        what it means: A required field is null inside a `type`
        example: `{address: {city: null}}`
        remedy: `default` with `when: missingOrNull`
        Prisma's error: P2032

        embedded-not-object
        level: certain
        what it means: The field has a `type`, and the value is no object
        example: `{address: "Elm St 5"}`
        remedy: `wrap` with `under`
        Prisma's error: P2023

        array-not-array
        level: certain
        what it means: The field is a list, and the value is no array
        example: `{tags: "a"}`
        remedy: `wrap`
        Prisma's error: P2023, *to List of*

        array-item-type
        level: certain
        what it means: The client does not read an element's type
        example: `tags String[]`: `[1]`
        remedy: `convert` with `"tags[]"`
        Prisma's error: P2023

        array-nested
        level: certain
        what it means: An element is itself an array
        example: `tags String[]`: `[["a"]]`
        remedy: `expression`, or correct it
        Prisma's error: P2023

        array-item-null
        level: certain
        what it means: An element is null; *info* in a list of a `type`
        example: `["a", null]`
        remedy: `drop-nulls`
        Prisma's error: P2032

        not-in-enum
        level: certain
        what it means: The string is no value of the enum
        example: `ROOT`
        remedy: correct it, or add the value
        Prisma's error: *Value not found in enum*

        numeric-lossy
        level: info
        what it means: The client reads another number
        example: `n Int`: `1.9`
        remedy: `convert`, or `Float` or `BigInt`

        bool-as-number
        level: info
        what it means: The client reads 0 or 1
        example: `n Int`: `true`
        remedy: `convert`
        """#)

    /// The pages on the rules of `lint` for Prisma schemas.
    static let schemas = Explanation.pages(
        of: .prismaSchemas,
        #"""
        id-unmapped
        level: error
        what it means: The `@id` is not stored as `_id`. Other commands read it as `_id`
        example: `id String @id`
        remedy: add `@map("_id")`
        source: Prisma's `validations.rs`

        auto-default
        level: error
        what it means: `@default(auto())` is on a field that is no `ObjectId`, or not the `@id`
        example: `id String @id @default(auto())`
        remedy: add `@db.ObjectId`
        source: the same

        native-type
        level: error
        what it means: The native type does not belong to the field's type
        example: `n Int @db.String`
        remedy: change the type
        source: Prisma's `mongodb_types.rs`

        native-type-lossy
        level: warning
        what it means: The native type holds numbers that JavaScript rounds
        example: `n Int @db.Long`
        remedy: `BigInt`, if values can be beyond 2^53

        relation-type
        level: warning
        what it means: The key of a relation has another native type than the field that it is compared with, so that
            the relation finds nothing; *error* for another type
        example: `authorId String` for an `ObjectId`
        remedy: add `@db.ObjectId`
        source: Prisma's `validations.rs`
        """#)
}
