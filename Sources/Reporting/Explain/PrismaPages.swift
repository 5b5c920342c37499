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

    /// The pages on the errors of Prisma clients, as `libs/user-facing-errors` of prisma/prisma-engines words them.
    static let errors = Explanation.pages(
        of: .prismaErrors,
        #"""
        P1012
        Prisma's error: *The schema is not valid*, *Error validating*, *Prisma schema validation*
        which documents: none: Prisma refuses the schema
        what to do: `shipshape lint` finds most of it, with the line

        P2001
        Prisma's error: *The record searched for in the where condition … does not exist*
        which documents: none has this key; or its key is stored as another type
        what to do: `shipshape check` reports keys of another type

        P2002
        Prisma's error: *Unique constraint failed on the*, E11000 *duplicate key error collection … index … dup key*
        which documents: several have one value of an `@unique`, or none at all: a write fails, or the index cannot be
            made
        what to do: `shipshape check` lists the groups

        P2003
        Prisma's error: *Foreign key constraint failed on the field*, *Foreign key constraint violated*
        which documents: others refer to the document
        what to do: change those first, or the `onDelete` of the relation

        P2010
        Prisma's error: *Raw query failed*
        which documents: it depends on MongoDB's error in the message
        what to do: look for that error: `shipshape explain` knows E11000 and the rules of validators

        P2014
        Prisma's error: *The change you are trying to make would violate the required relation … between the …
            models*
        which documents: others refer to the document
        what to do: change those first, or make the relation optional

        P2015
        Prisma's error: *A related record could not be found*
        which documents: the key names a document that is gone, or one with a key of another type
        what to do: `shipshape check --follow-links`

        P2017
        Prisma's error: *The records for relation … are not connected*
        which documents: the key names another document
        what to do: `shipshape check --follow-links`

        P2018
        Prisma's error: *The required connected records were not found*
        which documents: the key names a document that is gone, or one with a key of another type
        what to do: `shipshape check --follow-links`

        P2020
        Prisma's error: *Value out of range for the type*
        which documents: a number is larger than its type
        what to do: `BigInt` or `Float`, or `convert`

        P2023
        Prisma's error: *Inconsistent column data*
        which documents: a value that the client does not read as the field's type
        what to do: `shipshape check` names each; `plan` converts them

        P2025
        Prisma's error: *An operation failed because it depends on one or more records that were required but not
            found*, *Record to update not found*, *Record to delete does not exist*
        which documents: none has this key; or its key is stored as another type
        what to do: `shipshape check` reports keys of another type

        P2031
        Prisma's error: *Prisma needs to perform transactions which requires your MongoDB server to be run as a replica
            set*
        which documents: none: the server is a standalone
        what to do: make it a replica set of one member, which jobs need too

        P2032
        Prisma's error: *Error converting field … of expected non-nullable type … found incompatible value of*
        which documents: a required field is missing or null
        what to do: `shipshape check` names each; `plan` fills them

        P2034
        Prisma's error: *Transaction failed due to a write conflict or a deadlock*
        which documents: two transactions wrote one document, perhaps one of a job's chunk
        what to do: repeat the transaction; the setting `limits` of a job makes its chunks smaller
        """#)

    /// The pages on the rules of `lint` for Prisma schemas.
    static let schemas = Explanation.pages(
        of: .prismaSchemas,
        #"""
        prisma-refused
        level: error
        what it means: Prisma refuses this model, type, field, index or relation on MongoDB
        example: `x Int @default(autoincrement())`
        remedy: what the finding says
        source: [all of Prisma's checks](prisma.md)

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
