/// The pages on the rules for documents of App Services schemas.
enum DocumentPages {
    /// The pages on the rules for documents of App Services schemas.
    static let all = Explanation.pages(
        of: .documents,
        #"""
        required-missing
        level: certain
        what it means: A required field is missing, and has no usable default. *Possible* for lists, sets and
            dictionaries, because sync does not write empty ones
        example: `name` required: `{}`
        remedy: `default`
        source: 5.1, 5.3

        required-missing-defaulted
        level: info
        what it means: A required field is missing, and readers get a default of the right type: the document syncs, and
            the field stays missing
        example: default `"x"`: `{}`
        remedy: none; `default` to store it
        source: 5.3

        required-null
        level: certain
        what it means: A required field is null; a default does not help
        example: `{name: null}`
        remedy: `default` with `when: missingOrNull`
        source: 5.3

        type-mismatch
        level: certain
        what it means: The value has another type than the schema declares
        example: int `age`: `{age: "7"}`
        remedy: `convert`
        source: 5.1

        numeric-width-mismatch
        level: possible
        what it means: The value is a number of another numeric type, and the declared type can hold it exactly
        example: double `price`: int `3`
        remedy: `convert`
        source: 5.1

        numeric-lossy
        level: certain
        what it means: The value is a number that the declared type cannot hold; *possible* for a long where int is
            declared
        example: int `n`: `3.5`
        remedy: `convert` with `onLoss: allow`, or correct the value
        source: 5.1

        null-optional
        level: info
        what it means: An optional field is null. Sync accepts that; with `null-types: off` it is *possible*
        example: `{nick: null}`
        remedy: none; `unset` with `when: null`
        source: 2.5, 5.3

        null-id
        level: possible
        what it means: The `_id` is null
        example: `{_id: null}`
        remedy: insert the document again under another `_id`
        source: 5.1

        id-type-mismatch
        level: certain
        what it means: The `_id` has another type than the schema declares
        example: objectId: `{_id: "abc"}`
        remedy: insert it again; an `_id` cannot be changed
        source: 5.1

        embedded-not-object
        level: certain
        what it means: The schema declares an embedded object or a dictionary, and the value is no object
        example: `{address: "Elm St 5"}`
        remedy: `wrap` with `under`, or correct it
        source: 5.1

        embedded-required-missing
        level: certain
        what it means: A required field is missing in an embedded object that exists
        example: `{address: {}}`
        remedy: `default` with the path, `address.city`
        source: 5.3

        embedded-required-null
        level: certain
        what it means: A required field is null in an embedded object that exists
        example: `{address: {city: null}}`
        remedy: `default` with `when: missingOrNull`
        source: 5.3

        array-not-array
        level: certain
        what it means: The schema declares a list or a set, and the value is no array
        example: `{tags: "a"}`
        remedy: `wrap`
        source: 5.1

        array-item-type
        level: certain
        what it means: An element has another type than declared
        example: string list: `["a", 1]`
        remedy: `convert` with `"tags[]"`
        source: 5.1

        array-nested
        level: certain
        what it means: An element is itself an array
        example: `[[1]]`
        remedy: `expression`, or correct it
        source: 5.1

        array-item-null
        level: certain
        what it means: An element is null
        example: `["a", null]`
        remedy: `drop-nulls`
        source: 5.1

        set-duplicate
        level: possible
        what it means: A set has two equal elements
        example: `[1, 1]`
        remedy: `dedupe`
        source: 3.2, 5.1

        dictionary-value-type
        level: certain
        what it means: A dictionary's value has another type than declared
        example: string values: `{a: 1}`
        remedy: `convert` with `"scores[]"`
        source: 5.1

        dictionary-value-null
        level: possible
        what it means: A dictionary's value is null
        example: `{a: null}`
        remedy: `drop-nulls`
        source: 5.1

        dictionary-key
        level: possible
        what it means: A key that clients cannot use: empty, with a dot, or with a leading `$`
        example: `{"a.b": 1}`
        remedy: rename the key in the program that writes it
        source: 5.1

        link-type
        level: certain
        what it means: A link has another type than the keys that it is compared with
        example: objectId `owner`: `"abc"`
        remedy: `remap-link`, `convert`
        source: 3.3, 5.1

        link-null-item
        level: certain
        what it means: A list or a set of links holds null
        example: `{pets: [null]}`
        remedy: `drop-nulls`
        source: 5.1

        link-dangling
        level: info
        what it means: No document has the key that the link holds, so clients see null. Reported with `--follow-links`
        example: `{owner: 4711}`
        remedy: none, or `remap-link`
        source: 5.1

        link-target-unsyncable
        level: info
        what it means: The linked document does not sync, so clients see null. Reported with `--follow-links`
        remedy: repair the linked document
        source: 5.1

        mixed-type
        level: possible
        what it means: A mixed value has a type that cannot sync, such as a regular expression or a timestamp
        example: `{m: Timestamp(1, 1)}`
        remedy: `convert`, `unset`
        source: 3.3

        mixed-depth
        level: certain
        what it means: A mixed value nests deeper than 100 levels
        example: `[[[…]]]`
        remedy: flatten it
        source: 3.3

        mixed-collection
        level: certain
        what it means: A mixed value is an array or an object, and the app was created before 2024-05-28
            (`mixed-collections: off`)
        example: `{m: [1]}`
        remedy: another field
        source: 3.3

        mixed-dbref
        level: possible
        what it means: A link in a mixed value leads to no synced collection, or has a key of another type
        example: `{m: {$ref: "old", $id: 1}}`
        remedy: `unset`, or correct it
        source: 3.3

        binary-subtype
        level: possible
        what it means: The value is binary data of another subtype than 0
        example: subtype 5 in `blob`
        remedy: write it as subtype 0
        source: 3.1, 5.1

        uuid-subtype
        level: certain
        what it means: A UUID does not have subtype 4, or does not have 16 bytes
        example: subtype 3 (an old driver's)
        remedy: `convert` to `uuid` with `legacy`
        source: 3.1

        undefined-value
        level: certain
        what it means: A declared field has a value of a deprecated BSON type
        example: `{x: undefined}`
        remedy: `unset`
        source: 5.1

        geo-point
        level: certain
        what it means: A point's coordinates are missing, fewer than two, not doubles, or out of range
        example: `{type: "Point", coordinates: [200, 0]}`
        remedy: correct them; ints: `convert` to double
        source: 3.3

        reserved-field
        level: warning
        what it means: The document has the translator's lock, because a write is in progress or the lock was left over
        example: `_id__baas_transaction`
        remedy: wait; if it stays, `backfill --unset-locks`
        source: 5.1

        extra-field
        level: info
        what it means: The schema does not declare the field, so sync ignores it
        example: `{legacy: 1}`
        remedy: none; `unset`
        source: 5.1

        additional-property
        level: possible
        what it means: `additionalProperties: false` forbids the field; *certain* in a validator
        example: `{legacy: 1}`
        remedy: `unset`
        source: 3, 5.1

        partition-missing
        level: certain
        what it means: The required partition key is missing or null, so sync ignores the document. *Info* if the key is
            optional
        example: `{}`
        remedy: `default`
        source: 5.1

        partition-type
        level: certain
        what it means: The partition key has another type than the app's partitions
        example: `{_partition: 5}`
        remedy: `convert`
        source: 5.1

        value-too-large
        level: possible
        what it means: A value or the document is too large to sync
        example: 16 MB in `blob`
        remedy: store it elsewhere
        source: 5.1

        constraint-…
        level: possible
        what it means: Any rule of the next table, in an App Services schema: `constraint-below-minimum` and so on
        example: `{age: -1}` with minimum 0
        remedy: as in the next table
        source: 5.2
        """#)
}
