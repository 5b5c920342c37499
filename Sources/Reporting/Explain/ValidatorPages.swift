/// The pages on the rules of MongoDB's own validators.
enum ValidatorPages {
    /// The pages on the rules of MongoDB's own validators.
    static let all = Explanation.pages(
        of: .validators,
        #"""
        below-minimum
        what it means: A number is less than `minimum`, or equal to an exclusive one
        example: `{age: -1}`, minimum 0
        remedy: `expression` with `$max`
        source: 3

        above-maximum
        what it means: A number is more than `maximum`, or equal to an exclusive one
        example: `{age: 200}`, maximum 150
        remedy: `expression` with `$min`
        source: 3

        not-multiple-of
        what it means: A number is not a multiple of `multipleOf`
        example: `{n: 7}`, multiple of 5
        remedy: `expression`
        source: 3

        too-short
        what it means: A string has fewer code points than `minLength`
        example: `{code: ""}`, 1
        remedy: `default`, or correct it
        source: 3

        too-long
        what it means: A string has more code points than `maxLength`
        example: 300 in `title`, 200
        remedy: `expression` with `$substrCP`
        source: 3

        pattern-mismatch
        what it means: `pattern` matches nowhere in the string
        example: `{mail: "none"}`, `@`
        remedy: correct it
        source: 3.5

        not-in-enum
        what it means: The value is not in the list
        example: `{state: "new"}`
        remedy: `remap-link` with a `map`, or `expression`
        source: 3.2

        too-few-items
        what it means: An array has fewer elements than `minItems`
        example: `[]`, 1
        remedy: correct it
        source: 3

        too-many-items
        what it means: An array has more elements than `maxItems`
        example: 20 `tags`, 10
        remedy: `expression` with `$slice`
        source: 3

        items-not-unique
        what it means: Two elements are equal
        example: `[1, 1.0]`
        remedy: `dedupe`
        source: 3.2

        additional-item
        what it means: There is an element after the ones that `items` lists, and `additionalItems` forbids it
        example: `["a", 1, 2]`
        remedy: `expression` with `$slice`
        source: 3

        too-few-properties
        what it means: An object has fewer fields than `minProperties`
        example: `{}`, 1
        remedy: `default`
        source: 3

        too-many-properties
        what it means: An object has more fields than `maxProperties`; at the root `_id` counts
        remedy: `unset`
        source: 3

        dependency-missing
        what it means: A field is present, and another one that `dependencies` requires is missing
        example: `{card: 1}` without `address`
        remedy: `default`
        source: 3

        dependency-schema
        what it means: A field is present, and the object does not fit the schema that `dependencies` requires
        remedy: as for the findings inside it
        source: 3

        all-of
        what it means: The value does not fit one of the schemas
        remedy: read the schema that fails
        source: 3

        any-of
        what it means: The value fits none of the schemas, and selects none of them
        remedy: make it fit one
        source: 3

        one-of
        what it means: The value fits several of the schemas, or none and selects none; the finding says which
        remedy: make it fit one
        source: 3

        not
        what it means: The value fits a schema that it must not fit
        remedy: change it
        source: 3

        encrypt-mismatch
        what it means: The value is not encrypted as `encrypt` requires
        example: plain `ssn`
        remedy: write it with a client that encrypts
        source: 3
        """#)
}
