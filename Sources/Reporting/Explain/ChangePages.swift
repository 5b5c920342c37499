/// The pages on the changes of a schema.
enum ChangePages {
    /// The pages on the changes that `diff`, `check --active` and `plan` report.
    static let all = Explanation.pages(
        of: .changes,
        #"""
        type-added
        server: additive
        client: additive
        what it means: An object type is new
        example: a schema for `app.Toy`
        what to do: check its documents first
        source: 6

        type-removed
        server: breaking
        client: additive
        what it means: An object type is removed
        what to do: keep it on the server, leave it out of the clients
        source: 6

        type-renamed
        server: breaking
        client: breaking
        what it means: A type has another title
        example: `Dog` → `Hound`
        what to do: keep the title, map the class name in the client
        source: 6

        collection-moved
        server: breaking
        client: additive
        what it means: A type's documents are in another collection
        example: `app.Dog` → `pets.Dog`
        what to do: copy them, keep both equal, remove the old one last
        source: 6

        required-added
        server: additive
        client: additive
        what it means: A property is new and required
        example: `email`
        what to do: fill, deploy, fill again
        source: 6, note 3

        optional-added
        server: additive
        client: additive
        what it means: A property is new and optional
        example: `nick`
        what to do: convert the values that documents already have there
        source: 6

        property-removed
        server: breaking
        client: additive
        what it means: A property is removed
        what to do: keep it on the server, leave it out of the clients
        source: 6

        removed-before-day
        server: additive
        client: breaking
        what it means: A property is removed before the day until which the older schema promises it to clients
        example: `"description": "@deprecated 2027-03-31"`
        what to do: keep it until that day
        source: 6, note 10

        property-renamed
        server: breaking
        client: breaking
        what it means: A property has another name, stated in `renames`
        example: `age` → `years`
        what to do: keep the name, or add the new one and copy
        source: 6, note 2

        property-type-changed
        server: breaking
        client: breaking
        what it means: A property has another type; additive for clients between int and long
        example: string → int
        what to do: a second property with converted copies
        source: 6, note 4

        optional-to-required
        server: breaking
        client: breaking
        what it means: An optional property is required
        what to do: fill missing and null first
        source: 6

        required-to-optional
        server: breaking
        client: breaking
        what it means: A required property is optional
        what to do: keep it required if you can
        source: 6

        cardinality-changed
        server: breaking
        client: breaking
        what it means: A single value became a collection, or the reverse
        example: string → list of strings
        what to do: `wrap`, `unwrap`
        source: 6

        list-set-changed
        server: breaking
        client: breaking
        what it means: A list became a set, or a set a list
        what to do: `dedupe`
        source: 6

        element-type-changed
        server: breaking
        client: breaking
        what it means: A collection's elements have another type
        what to do: `convert` with `[]`
        source: 6

        element-nullability-changed
        server: breaking
        client: breaking
        what it means: A collection's elements may now be null, or may no longer be
        what to do: `drop-nulls`
        source: 6

        embedding-changed
        server: breaking
        client: breaking
        what it means: An embedded object became a link, or the reverse
        what to do: a partner collection; `extract`, `embed`
        source: 6, 9

        link-added
        server: breaking
        client: breaking
        what it means: A property became a link
        what to do: its values must be keys, or null
        source: 6

        link-removed
        server: breaking
        client: breaking
        what it means: A link became a plain value
        what to do: terminate and re-enable
        source: 6

        link-retargeted
        server: breaking
        client: breaking
        what it means: A link leads to another type
        what to do: `remap-link`
        source: 6

        id-removed
        server: breaking
        client: breaking
        what it means: The primary key is removed, or has another name
        what to do: do not deploy it
        source: 6

        id-type-changed
        server: breaking
        client: breaking
        what it means: The primary key has another type
        example: int → string
        what to do: a partner collection
        source: 6, 8

        partition-key-changed
        server: breaking
        client: breaking
        what it means: The documents are partitioned by another field or type
        what to do: fill it while sync is terminated
        source: 6

        queryable-added
        server: additive
        client: additive
        what it means: Clients can query by one more field
        what to do: nothing
        source: 6

        queryable-removed
        server: additive
        client: breaking
        what it means: Clients can no longer query by a field
        what to do: wait until no client subscribes by it
        source: 6

        indexed-queryable-changed
        server: breaking
        client: breaking
        what it means: Another queryable field is indexed, or none
        what to do: only while sync is off
        source: 6

        sync-mode-changed
        server: breaking
        client: breaking
        what it means: Sync uses queries instead of partitions, or the reverse
        what to do: terminate, change, re-enable
        source: 6

        data-source-changed
        server: breaking
        client: breaking
        what it means: A collection or sync belongs to another cluster
        what to do: move the documents there
        source: 6

        asymmetric-changed
        server: breaking
        client: breaking
        what it means: Clients now only write to a collection, or no longer do
        what to do: terminate and re-enable
        source: 6

        default-added
        server: additive
        client: additive
        what it means: A property has a default
        what to do: nothing
        source: 6

        default-changed
        server: additive
        client: additive
        what it means: A property has another default
        what to do: store the old default first where it must stay
        source: 6

        default-removed
        server: additive
        client: additive
        what it means: A property lost its default
        what to do: store the old default first in documents that lack the field
        source: 6

        constraint-tightened
        server: additive
        client: additive
        what it means: A constraint refuses more
        example: minimum 0 → 1
        what to do: check the documents first
        source: 6

        constraint-loosened
        server: additive
        client: additive
        what it means: A constraint refuses less
        what to do: nothing
        source: 6

        additional-properties-changed
        server: additive
        client: additive
        what it means: Undeclared fields are now allowed, or no longer are
        what to do: nothing for sync
        source: 6
        """#)
}
