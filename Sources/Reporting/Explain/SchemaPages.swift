/// The pages on the rules of `lint`.
enum SchemaPages {
    /// The pages on the rules of `lint`.
    static let all = Explanation.pages(
        of: .schemas,
        #"""
        schema-invalid
        level: error
        what it means: A part of the schema, or a file, cannot be read, and other commands refuse it
        example: `bsonType: "strng"`
        remedy: see the finding
        source: 3

        schema-missing
        level: error
        what it means: No collection that syncs has a schema; *info* for a placeholder `{}`
        example: `{}`
        remedy: write the schema
        source: 4

        title-missing
        level: error
        what it means: The root has no title, the name of the clients' class
        remedy: write its title
        source: 4

        title-duplicate
        level: error
        what it means: Two collections of a data source have one title
        example: `Dog` twice
        remedy: rename one
        source: 4

        title-conflict-embedded
        level: warning
        what it means: An embedded title names two shapes, or is also the title of a collection
        remedy: make them the same, or rename one
        source: 4

        embedded-title-missing
        level: warning
        what it means: An embedded object has no title, so its class gets a made-up name
        remedy: write its title
        source: 4

        title-too-long
        level: error
        what it means: The title has more than 57 characters; *warning* if only its bytes are more
        remedy: shorten it
        source: 4

        title-charset
        level: warning
        what it means: The title is not an identifier
        example: `my-dog`
        remedy: letters, digits and `_`, a letter first
        source: 4

        id-missing
        level: error
        what it means: `properties` does not name `_id`
        remedy: define it, and require it
        source: 4

        id-type
        level: error
        what it means: `_id` has a type that no client can have as a key
        example: `double`
        remedy: objectId, string, int, long or uuid
        source: 4

        id-not-required
        level: warning
        what it means: `_id` is optional
        remedy: list it in `required`
        source: 4

        id-forbidden
        level: error
        what it means: A validator with `additionalProperties: false` does not name `_id`, so every document fails
        remedy: name `_id` in `properties`
        source: 3

        pattern-outdated
        level: warning
        what it means: PCRE 8 accepts a validator's regular expression and PCRE2 does not: MongoDB 6.1 and later refuse
            it
        example: `^[\w-.]+$`
        remedy: `^[\w\-.]+$`
        source: 3.5

        property-name-too-long
        level: error
        what it means: The name has more than 63 characters; *warning* if only its bytes are more
        remedy: shorten it
        source: 4

        property-name-dollar
        level: error
        what it means: The name begins with `$` and cannot be addressed
        example: `$name`
        remedy: rename it
        source: 4

        property-name-dot
        level: error
        what it means: The name has a dot and cannot be addressed
        example: `a.b`
        remedy: rename it
        source: 4

        property-name-reserved
        level: error
        what it means: A queryable field's name is a word of the query language
        example: `limit`
        remedy: rename it, or do not query by it
        source: 4

        type-missing
        level: error
        what it means: A property has no type
        example: `{}`
        remedy: write its `bsonType`, or `mixed`
        source: 4

        type-multiple
        level: error
        what it means: A property lists several types
        example: `["string", "null"]`
        remedy: keep one; optional fields may be null anyway
        source: 4

        type-unsupported
        level: error
        what it means: Clients have no such type
        example: `regex`
        remedy: another type, or `mixed`
        source: 3.1, 4

        type-spelling
        level: warning
        what it means: A type is spelled as in another tool
        example: `float`
        remedy: the name of section 3.1
        source: 3.1

        json-type-used
        level: warning
        what it means: `type` is used instead of `bsonType`
        example: `type: "string"`
        remedy: `bsonType`
        source: 3

        required-undefined
        level: error
        what it means: `required` names a field that `properties` does not define; *info* in a validator
        remedy: define it
        source: 4

        default-type
        level: error
        what it means: The default has another type than its property, so clients miss the field
        example: int, default `"1"`
        remedy: a default of that type
        source: 3, 5.3

        default-null
        level: warning
        what it means: A default of null counts as no default
        remedy: leave it out
        source: 11

        deprecated-without-day
        level: warning
        what it means: A description has the annotation `@deprecated`, but no day of the calendar after it
        example: `@deprecated soon`
        remedy: write the last day, as in `@deprecated 2027-03-31`
        source: 6, note 10

        default-on-optional
        level: warning
        what it means: The property is optional, and defaults only apply to required ones
        remedy: require it, or leave the default out
        source: 4

        unknown-keyword
        level: warning
        what it means: No dialect knows the keyword
        example: `requird`
        remedy: see the hint
        source: 3

        keyword-undocumented
        level: warning
        what it means: App Services does not document the keyword
        example: `const`
        remedy: leave it out
        source: 3

        keyword-not-mapped
        level: warning
        what it means: Only the server checks the keyword, so clients can write documents that violate it
        example: `minimum`
        remedy: keep it in mind
        source: 4

        array-items-missing
        level: error
        what it means: The array does not declare its elements
        example: `bsonType: "array"`
        remedy: write `items`
        source: 4

        array-items-tuple
        level: error
        what it means: `items` is a list by position
        example: `items: [{}, {}]`
        remedy: one schema for all elements
        source: 4

        collection-nested
        level: error
        what it means: A collection is directly inside a collection
        example: list of lists
        remedy: an embedded object between them, or `mixed`
        source: 4

        collection-nullable-items
        level: error
        what it means: A collection's elements may be null
        example: `["string", "null"]` in `items`
        remedy: leave null out
        source: 4

        array-required
        level: warning
        what it means: A collection is required. Clients do not write empty ones, so their documents lack it
        example: `tags` in `required`
        remedy: leave it out of `required`
        source: 4

        set-of-embedded
        level: error
        what it means: A set contains embedded objects
        remedy: make it a list
        source: 4

        embedded-with-id
        level: warning
        what it means: An embedded object has an `_id`, which is not a key
        remedy: rename it
        source: 4

        embedded-cycle
        level: error
        what it means: An embedded type contains itself
        remedy: link to a collection
        source: 4

        embedded-required
        level: error
        what it means: An embedded object is required
        remedy: leave it out of `required`
        source: 4

        mixed-required
        level: error
        what it means: A mixed property is required
        remedy: leave it out of `required`
        source: 4

        dictionary-with-properties
        level: warning
        what it means: An object has `properties` and a schema in `additionalProperties`, and counts as an embedded
            object
        remedy: leave one out
        source: 3.3, 4

        link-required
        level: error
        what it means: A link is required
        remedy: leave it out of `required`
        source: 4

        link-source-id
        level: error
        what it means: `_id` is a link
        remedy: link from another field
        source: 4

        link-foreign-key
        level: error
        what it means: A link leads to another field than `_id`
        example: `foreign_key: "code"`
        remedy: `_id`
        source: 4

        link-ref-unresolved
        level: error
        what it means: The start or the end of a link does not exist, or belongs to another data source
        remedy: give the target a schema, or remove the link
        source: 4

        link-type
        level: error
        what it means: The two ends have different types, or `is_list` is wrong
        remedy: make them equal
        source: 4

        link-cross-partition
        level: warning
        what it means: One end of a link has no partition key
        remedy: define it in both
        source: 4

        queryable-unknown
        level: warning
        what it means: No schema has the queryable field, or the collection for which it is listed
        remedy: define it, or leave it out
        source: 4

        queryable-ambiguous
        level: warning
        what it means: A name is the name of one collection and the title of another
        remedy: rename one
        source: 2.3

        queryable-type
        level: error
        what it means: A queryable field is neither a scalar nor an array of scalars, or is inside an embedded object
        example: `address`
        remedy: leave it out
        source: 4

        queryable-none
        level: info
        what it means: Clients can query the type by `_id` alone
        remedy: name a queryable field
        source: 4

        indexed-queryable
        level: error
        what it means: There are several indexed queryable fields, or the field is not listed globally, has a wrong
            type, or has two types; *warning* if a collection lacks it
        remedy: as the finding says
        source: 2.3

        partition-key-undefined
        level: error
        what it means: A synced schema does not define the partition key
        remedy: define it
        source: 4

        partition-key-type
        level: error
        what it means: The partition key has another type than configured, or a type that a partition key cannot have
        remedy: string, objectId, long or uuid
        source: 2.3

        datasource-type
        level: error
        what it means: The data source is of a kind that cannot sync: federated, serverless, sharded, standalone
        remedy: sync a replica set
        source: 4

        datasource-name
        level: warning
        what it means: The folder has another name than the data source
        remedy: rename the folder
        source: 2.2

        sync-service-unknown
        level: error
        what it means: The sync configuration names a data source that does not exist
        remedy: see the hint
        source: 2.3

        service-not-synced
        level: info
        what it means: The collection belongs to a data source that does not sync
        remedy: none
        source: 2.3

        development-mode
        level: warning
        what it means: Development mode is on: clients can change the schemas
        remedy: turn it off before you go live
        source: 2.3

        asymmetric-unknown
        level: warning
        what it means: `asymmetric_tables` names a collection or type that has no schema
        remedy: see the hint
        source: 2.3

        role-not-syncable
        level: warning
        what it means: Under Flexible Sync the role gives no access at all
        example: `read: {"%function": …}`
        remedy: what the finding says
        source: 2.2

        mongodb-version
        level: error
        what it means: The server is too old to sync
        example: 4.2
        remedy: upgrade it
        source: 4

        namespace-space
        level: error
        what it means: The name of a database or a collection has a space
        example: `my app`
        remedy: rename it
        source: 4

        time-series
        level: error
        what it means: The collection is a time series, which clients can only write to
        remedy: list its type in `asymmetric_tables`
        source: 4

        native-validator
        level: warning
        what it means: MongoDB's own validator conflicts with sync: it refuses documents, requires fields inside
            embedded objects, or distinguishes missing, null and empty
        remedy: `validationAction: "warn"`
        source: 4

        unique-conflict
        level: info
        what it means: A unique index exists: of two equal values that clients wrote, the server erases the later one
        remedy: drop the index
        source: 5.1
        """#)
}
