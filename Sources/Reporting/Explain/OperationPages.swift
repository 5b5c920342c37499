/// The pages of `shipshape explain` on remarks of `schema infer`, findings of `check --history`, reasons to wait, and
/// exit codes.
enum OperationPages {
    /// The pages on the remarks of `schema infer`.
    static let remarks = Explanation.pages(
        of: .remarks,
        #"""
        rare-type
        what it means: Fewer than 1% of the values have this type, and the others another one
        example: 99.6% long, 0.4% int
        what to do: `--cover`, then `convert`
        source: 5.1

        mixed-types
        what it means: The values have several types, none of them rare, and not all of them numbers
        example: string and int
        what to do: `mixed`, or `convert`
        source: 3.1

        mixed-numbers
        what it means: The values have more than one of int, long, double and decimal
        what to do: `convert` to one
        source: 5.1

        whole-doubles
        what it means: All values are doubles, and all of them whole
        example: `3.0`
        what to do: perhaps long
        source: 3.1

        dates-as-strings
        what it means: Nine strings in ten look like dates
        example: `"2026-11-01"`
        what to do: `convert` to date
        source: 3.1

        uuids-as-strings
        what it means: Nine strings in ten look like UUIDs
        what to do: `convert` to uuid
        source: 3.1

        objectids-as-strings
        what it means: Nine strings in ten look like ObjectIds
        what to do: `convert` to objectId
        source: 3.1

        numbers-as-strings
        what it means: Nine strings in ten look like numbers
        example: `"12"`
        what to do: `convert`
        source: 3.1

        rare-field
        what it means: Of at least a thousand objects, fewer than one in a thousand has the field
        what to do: a mistyped name?
        source: 3

        only-null
        what it means: Every value is null
        what to do: what is the field for?
        source: 5.3

        binary-subtype
        what it means: The values are binary data of a subtype that clients do not have
        example: subtype 3
        what to do: `convert` to uuid
        source: 3.1
        """#)

    /// The pages on the findings that only the comparison with earlier checks shows.
    static let history = Explanation.pages(
        of: .history,
        #"""
        anomaly
        what it means: A finding has at least 10 documents, and more than three times its usual number: the median of
            the last seven checks of the same source, schema and collection; there must have been three
        example: 40 documents, after 12, 9, 11, 9, 10, 8 and 9
        what to do: find the client that writes such documents; the setting `fail-on-anomaly` makes the check fail
        """#)

    /// The pages on the reasons that make a run wait, under the names that metrics, hooks and `status` show.
    static let waits = Explanation.pages(
        of: .waits,
        #"""
        reading
        what it means: The server metrics could not be read, or the last reading is older than 15 s
        what to do: wait; if it stays, check that the primary answers and that the user may read `serverStatus`

        overload
        what it means: The server refuses commands because of its load
        what to do: wait, or run it when the servers are less busy

        majority
        what it means: No majority of the members confirms the writes of the run
        what to do: repair a member, or wait; after a minute, or at `--max-runtime`, the command ends with exit code 75,
            and the next run continues

        majorityLag
        what it means: The replication lag of a majority of the members is at its limit
        limit: `lag`, 10s
        what to do: wait; a smaller `chunk` or `nice` lowers it

        secondaryLag
        what it means: The replication lag of the slowest healthy secondary is at its limit
        limit: `lag`, 10s
        what to do: wait; repair the secondary, or `shipshape job tune JOB lag=off`

        flowControl
        what it means: All writers together wait for flow control as long as the limit, in each second
        limit: `flowControl`, 1s
        what to do: wait; a smaller `chunk` or `nice` lowers it

        tickets
        what it means: The share of the storage engine's execution tickets in use is at its limit
        limit: `tickets`, 80%
        what to do: wait, or run it when the servers are less busy

        cacheDirty
        what it means: The share of the cache that waits to be written to disk is at its limit
        limit: `cache.dirty`, 15%
        what to do: wait; `nice` lowers it

        cacheUsed
        what it means: The share of the cache that is filled is at its limit
        limit: `cache.used`, 95%
        what to do: wait, or run it when the servers are less busy

        oplog
        what it means: The oplog covers less time than the limit
        limit: `oplog`, 1h
        what to do: enlarge the oplog, or let the job rest with `nice`

        consumer
        what it means: The consumer that reads the changes has taken as much as it can take
        limit: `consumer`
        what to do: wait; the rate is what the consumer takes

        pauseWindow
        what it means: It is a time at which the job file allows no writes
        limit: `pause`
        what to do: wait until the window ends

        operatorPause
        what it means: An operator paused the job
        what to do: `shipshape job resume JOB`

        veto
        what it means: The program or the server that the job file names below `throttle` does not answer that the run
            may continue
        limit: `throttle`
        what to do: ask the consumer that it guards
        """#)

    /// The pages on the exit codes of every command.
    static let exitCodes = Explanation.pages(
        of: .exitCodes,
        #"""
        0
        meaning: nothing found, or all done

        1
        meaning: findings: documents do not fit, would stop syncing or do not arrive, a change is breaking, a schema has
            errors, a job left documents for you to fix, a job has no room below the limit, two sides of a partner
            differ, a job is stalled
        what to do: read the report

        64
        meaning: wrong usage: an unknown option, a value out of range, no `--yes` off a terminal, steps of a job that
            were not reviewed
        what to do: `shipshape COMMAND --help`

        65
        meaning: a schema, job or dump file that cannot be used, or that changed since the job was started; a collection
            or a job that does not exist; a name that the server refuses
        what to do: the message names file, line and remedy

        69
        meaning: the deployment cannot be reached, or stays unreachable
        what to do: try again; a job continues where it was

        70
        meaning: a bug
        what to do: please report it

        73
        meaning: an output cannot be written; usually found before the work begins
        what to do: make room, or name another place

        75
        meaning: stopped early and resumable: a signal, `--max-runtime`, the limit of unsynced documents, no room on
            the deployment for the journal or the state, a pause, a job that requires a deploy that is not recorded yet,
            too many errors, a server that refuses commands because of its load, a system that starts no more threads
        what to do: run it again; the message says when that helps

        76
        meaning: another runner holds the job, or took it over
        what to do: wait, or look at `shipshape status`

        77
        meaning: the login was refused, or the user lacks a privilege to read or write something
        what to do: grant what the message names

        78
        meaning: bad configuration that can never work, such as a certificate that does not exist, a reserve above the
            limit, or a process that can open fewer than 64 files, start fewer than 16 threads or address less than 1
            GiB (`ulimit -n`, `-u`, `-v`)
        what to do: correct what the message names
        """#)
}
