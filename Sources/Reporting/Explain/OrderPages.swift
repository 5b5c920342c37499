import SchemaChange

/// The pages on the orders of work for a change; each code is a ``WorkOrder``.
enum OrderPages {
    /// The pages of all orders.
    static let all = Explanation.pages(
        of: .orders,
        #"""
        prisma-any-time
        changes: `optional-added`; `required-added`, `optional-to-required` and `default-removed` where a constant
            `@default` stays; `type-added`, `default-added`, `property-removed` of an optional field, and every other
            change after which both schemas read what the other one writes
        old clients read: every document
        new clients read: every document
        before: nothing
        between: nothing
        after: nothing

        prisma-fill
        changes: `required-added`, `optional-to-required` and `default-removed` without a constant `@default`;
            `default-changed` of a required field; `property-type-changed` and `constraint-tightened` where only old
            clients read all values
        old clients read: every document
        new clients read: no document whose value is missing or does not fit; of a changed default, the new one
        before: run the job
        between: new clients fail on what old clients write until the job has run again. Without a failed read: first
            deploy a version that reads the documents of both schemas and writes those of the newer one, run the job
            once no older client runs, and deploy the newer schema last
        after: run the job again

        prisma-read-first
        changes: `required-to-optional`, `property-removed` of a required field, `property-type-changed` and
            `constraint-loosened` where only new clients read all values
        old clients read: no document that a new client wrote with a value that is missing or new to them
        new clients read: every document
        before: nothing
        between: old clients fail on what new clients write. Without a failed read: first deploy a version that reads
            the documents of both schemas and writes those of the older one, and the newer schema once no older client
            runs
        after: nothing

        prisma-expand
        changes: `property-renamed`, `collection-moved`, and each change of a type that neither client reads of the
            other, or finds by a filter
        old clients read: no value that new clients wrote, or they fail on it
        new clients read: no value that old clients wrote, or they fail on it
        before: *expand*: deploy a version that has both fields, the new one optional, and writes both; *migrate*: run
            the job once no older client runs
        between: *deploy*: a version that reads the new field, and still writes both
        after: *contract*: deploy the newer schema, and remove the old field once no other client runs

        sync-any-time
        changes: `queryable-added`, `default-added`, `constraint-loosened`, `additional-properties-changed`, and every
            change of a collection that does not sync, or that schema versions or a partner collection serve
        old clients read: every document that syncs
        new clients read: every document that syncs
        before: nothing
        between: nothing
        after: nothing

        sync-fill
        changes: `required-added`, `optional-added`, `type-added`, `constraint-tightened`, `default-removed`,
            `default-changed`
        old clients read: every document that fits the newer schema
        new clients read: every document that fits the newer schema
        before: run the job
        between: a document that another program than a client writes without the value does not sync until the job has
            run again; a client's own upload gets the zero value
        after: run the job again

        sync-wait
        changes: `queryable-removed`, `removed-before-day`
        old clients read: nothing, if they use the changed part: they get an error and start from scratch
        new clients read: every document that syncs
        before: wait until no installed client uses it
        between: nothing
        after: nothing

        sync-terminate
        changes: every other change, among them `property-removed`, `property-renamed`, `property-type-changed`,
            `optional-to-required` and `required-to-optional`
        old clients read: nothing: they start from scratch, and lose what they have not uploaded
        new clients read: every document that fits the newer schema, after a first sync
        before: run the job that keeps every document syncing, and let the clients upload
        between: terminate sync, run the jobs, save the schema, and enable sync again. Without a reset: a partner
            collection, or a second property with converted copies
        after: check, and let the clients start from scratch

        validator-any-time
        changes: every change after which the validator accepts what it accepted
        old clients read: every document
        new clients read: every document
        before: nothing
        between: nothing
        after: nothing

        validator-warn
        changes: every change after which the validator may refuse what it accepted
        old clients read: every document
        new clients read: every document
        before: set the validator with the action `warn`
        between: run the job; the server refuses no write
        after: set the action `error`: the server refuses writes that do not fit
        """#)

    /// Returns a statement of an order's page, without Markdown.
    static func statement(_ title: String, of order: WorkOrder) -> String {
        let page = all.first { $0.code == order.rawValue }
        return (page?.statements.first { $0.title == title }?.text ?? "").replacing("*", with: "")
    }
}
