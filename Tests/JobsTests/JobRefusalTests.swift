import Jobs
import JobsSupport
import Testing

/// The text of a job file that must be refused, and the exact error message without the file name at its beginning.
struct JobRefusal: CustomTestStringConvertible, Sendable {
    let text: String
    let error: String
    var testDescription: String { error }

    init(_ text: String, _ error: String) {
        self.text = text
        self.error = "j.yml:\(error)"
    }

    /// Makes the text of a job with these steps, which begin in line 3.
    init(steps: String, _ error: String) { self.init("job: a\ncollection: b.c\nsteps: \(steps)", error) }

    /// Makes the text of a job with these limits, which are in line 4.
    init(limits: String, _ error: String) {
        self.init("job: a\ncollection: b.c\nsteps: [copy: {from: d, to: e}]\nlimits: \(limits)", error)
    }
}

@Suite struct JobRefusalTests {
    @Test(arguments: files + steps + limits + vetoes) func isRefused(_ refusal: JobRefusal) {
        #expect(Fixture.failure { try JobFile.parse(refusal.text, path: "j.yml") } == refusal.error)
    }

    static let vetoes: [JobRefusal] = [
        ("sync", "11: \"throttle\" must be a mapping"),
        ("{}", "11: \"throttle\" needs either \"http\", a URL, or \"command\""),
        ("{timeout: 5s}", "11: \"throttle\" needs either \"http\", a URL, or \"command\""),
        ("{http: \"http://a\", command: b}", "11: \"throttle\" needs either \"http\", a URL, or \"command\""),
        ("{http: \"ftp://a/b\"}", "18: \"http\" must be a URL like http://sync.example.net:8080/ready"),
        ("{http: \"http:///b\"}", "18: \"http\" must be a URL like http://sync.example.net:8080/ready"),
        (
            "{http: \"https://me:secret@a/b\"}",
            "18: \"http\" must not name a user: a job file is no place for passwords"
        ),
        ("{command: [a]}", "21: \"command\" must be a text"),
        ("{command: a, timeout: 0s}", "33: \"timeout\" must be a time like 10s (ms, s, m, h)"),
        ("{command: a, timeout: 2m}", "33: \"timeout\" must be at most 1m"),
    ].map { throttle, error in
        JobRefusal("job: a\ncollection: b.c\nsteps: [copy: {from: d, to: e}]\nthrottle: \(throttle)", "4:\(error)")
    }

    static let files: [JobRefusal] = [
        JobRefusal(
            "job: a\ncollection: b.c\nsteps: [copy: {from: d, to: e}]\nrequires: review",
            "4:11: \"requires\" must be deployed: a job can wait for nothing else"),
        JobRefusal("", "1:1: the file is empty"),
        JobRefusal("# nothing\n", "1:1: the file is empty"),
        JobRefusal(
            "# A DRAFT: decide\n# job: a\n# collection: b.c\n# steps:\n\n  ## a remark\n  # - unset: {field: x}\n",
            "2:1: the file is a draft: all its steps are comments; decide on them, and remove one # from this line and "
                + "from each line below it that begins with one"),
        JobRefusal("- a", "1:1: a job must be a mapping"),
        JobRefusal("text", "1:1: a job must be a mapping"),
        JobRefusal("job: a\n\tcollection: b", "2:1: not YAML: found a tab character that violates indentation"),
        JobRefusal("job: [a", "2:1: not YAML: did not find expected ',' or ']'"),
        JobRefusal("job: a\njob: b", "1:1: key given twice: job"),
        JobRefusal(
            "job: a\n---\njob: b", "2:1: not YAML: expected a single document in the stream, but found another document"
        ),
        JobRefusal("job: *a", "1:6: aliases are not supported: write out the value that this one refers to"),
        JobRefusal("job: \"a", "1:8: not YAML: found unexpected end of stream"),
        JobRefusal("collection: b.c", "1:1: a job needs \"job\""),
        JobRefusal("job: a", "1:1: a job needs \"collection\""),
        JobRefusal("job: a\ncollection: b.c", "1:1: a job needs \"steps\""),
        JobRefusal("jobs: a", "1:1: a job has no key \"jobs\" (did you mean \"job\"?)"),
        JobRefusal("job: a\ncolection: b.c", "2:1: a job has no key \"colection\" (did you mean \"collection\"?)"),
        JobRefusal(
            "job: a\nowner: me",
            "2:1: a job has no key \"owner\"; keys: version, job, collection, schema, renames, requires, where, steps, "
                + "reviewed, limits, throttle, journal"),
        JobRefusal(
            "version: 2\njob: a",
            "1:10: \"version\" must be 1: this program knows no other version of the job file's format"),
        JobRefusal(
            "version: \"1\"\njob: a",
            "1:10: \"version\" must be 1: this program knows no other version of the job file's format"),
        JobRefusal("job:\ncollection: b.c", "1:5: \"job\" must be a text"),
        JobRefusal(
            "job: a b\ncollection: b.c", "1:6: a job's name consists of at most 100 letters, digits, '-', '_' and '.'"),
        JobRefusal(
            "job: a.cleanup\ncollection: b.c",
            "1:6: a job's name cannot end in .cleanup: such names are for the clean-up of a job"),
        JobRefusal("job: [a]\ncollection: b.c", "1:6: \"job\" must be a text"),
        JobRefusal("job: a\ncollection: b", "2:13: \"collection\" must be DATABASE.COLLECTION"),
        JobRefusal("job: a\ncollection: .c", "2:13: \"collection\" must be DATABASE.COLLECTION"),
        JobRefusal("job: a\ncollection: b.", "2:13: \"collection\" must be DATABASE.COLLECTION"),
        JobRefusal(
            "job: a\ncollection: b.c\nsteps: [copy: {from: d, to: e}]\nschema: v1",
            "4:9: \"schema\" must be a "
                + "mapping"),
        JobRefusal(
            "job: a\ncollection: b.c\nsteps: [copy: {from: d, to: e}]\nschema: {activ: v1}",
            "4:10: \"schema\" has no key \"activ\" (did you mean \"active\"?)"),
        JobRefusal(
            "job: a\ncollection: b.c\nsteps: [copy: {from: d, to: e}]\nschema: {active: }",
            "4:18: \"active\" must be a text"),
    ]

    private static let kinds = Step.kinds.map { $0.key }.joined(separator: ", ")

    static let steps: [JobRefusal] = [
        JobRefusal(steps: "[]", "3:8: \"steps\" must be a list with at least one entry"),
        JobRefusal(steps: "", "3:7: \"steps\" must be a list with at least one entry"),
        JobRefusal(steps: "{}", "3:8: \"steps\" must be a list with at least one entry"),
        JobRefusal(steps: "text", "3:8: \"steps\" must be a list with at least one entry"),
        JobRefusal(steps: "[{}]", "3:9: a step has exactly one kind, of \(kinds)"),
        JobRefusal(steps: "[text]", "3:9: a step must be a mapping"),
        JobRefusal(
            steps: "[defualt: {field: a, value: 1}]", "3:9: a step has no key \"defualt\" (did you mean \"default\"?)"),
        JobRefusal(
            steps: "[{default: {field: a, value: 1}, copy: {from: d, to: e}}]",
            "3:9: a step has exactly one kind, of \(kinds)"),
        JobRefusal(steps: "[copy: {from: a}]", "3:15: \"copy\" needs \"to\""),
        JobRefusal(steps: "[copy: {to: a}]", "3:15: \"copy\" needs \"from\""),
        JobRefusal(steps: "[copy: a]", "3:15: \"copy\" must be a mapping"),
        JobRefusal(steps: "[default: {value: 1}]", "3:18: \"default\" needs \"field\""),
        JobRefusal(steps: "[default: {field: a}]", "3:18: \"default\" needs \"value\""),
        JobRefusal(
            steps: "[default: {field: a, value: 1, when: nul}]", "3:45: \"when\" must be missing or missingOrNull"),
        JobRefusal(
            steps: "[default: {field: a, value: null, when: missingOrNull}]",
            "3:18: a default of null would never fill the field: give another value, or \"when: missing\""),
        JobRefusal(
            steps: "[default: {field: a, vlaue: 1}]", "3:29: \"default\" has no key \"vlaue\" (did you mean \"value\"?)"
        ),
        JobRefusal(
            steps: "[default: {field: _id, value: 1}]",
            "3:26: \"field\" cannot be _id: a document's primary key never changes in place. A "
                + "partner collection has the documents under other keys (shipshape partner)"),
        JobRefusal(
            steps: "[rename: {from: _id, to: a}]",
            "3:24: \"from\" cannot be _id: a document's primary key never changes in place. A "
                + "partner collection has the documents under other keys (shipshape partner)"),
        JobRefusal(
            steps: "[copy: {from: a, to: _id.b}]",
            "3:29: \"to\" cannot be _id: a document's primary key never changes in place. A "
                + "partner collection has the documents under other keys (shipshape partner)"),
        JobRefusal(
            steps: "[default: {field: a..b, value: 1}]", "3:26: \"field\": path \"a..b\": a name is empty (name 2)"),
        JobRefusal(
            steps: "[default: {field: $a, value: 1}]", "3:26: \"field\": path \"$a\": a name begins with $ (name 1)"),
        JobRefusal(
            steps: "[default: {field: a.$b, value: 1}]", "3:26: \"field\": path \"a.$b\": a name begins with $ (name 2)"
        ),
        JobRefusal(steps: "[default: {field: .a, value: 1}]", "3:26: \"field\": path \".a\": a name is empty (name 1)"),
        JobRefusal(steps: "[default: {field: \"\", value: 1}]", "3:26: \"field\" must be a text"),
        JobRefusal(steps: "[default: {field: [a], value: 1}]", "3:26: \"field\" must be a text"),
        JobRefusal(
            steps: "[copy: {from: a, to: a}]", "3:29: \"a\" and \"a\" overlap: the target must be another field"),
        JobRefusal(
            steps: "[copy: {from: a, to: a.b}]", "3:29: \"a\" and \"a.b\" overlap: the target must be another field"),
        JobRefusal(
            steps: "[copy: {from: a.b, to: a}]", "3:31: \"a.b\" and \"a\" overlap: the target must be another field"),
        JobRefusal(
            steps: "[convert: {field: a, to: strng}]",
            "3:33: cannot convert to type \"strng\" (did you mean \"string\"?); types: string, int, long, double, "
                + "decimal, bool, date, objectId"
        ),
        JobRefusal(
            steps: "[convert: {field: a, to: symbol}]",
            "3:33: cannot convert to type \"symbol\"; types: string, int, long, double, decimal, bool, date, objectId"),
        JobRefusal(steps: "[convert: {field: a}]", "3:18: \"convert\" needs \"to\""),
        JobRefusal(steps: "[convert: {to: int}]", "3:18: \"convert\" needs \"field\""),
        JobRefusal(
            steps: "[convert: {field: a, to: int, into: a}]",
            "3:44: \"a\" and \"a\" overlap: the target must be another field"),
        JobRefusal(
            steps: "[convert: {field: a, to: int, into: a.b}]",
            "3:44: \"a\" and \"a.b\" overlap: the target must be another field"),
        JobRefusal(
            steps: "[convert: {field: a, to: int, onError: skip}]",
            "3:47: \"onError\" must be report, null, default or fail"),
        JobRefusal(
            steps: "[convert: {field: a, to: int, into: _id}]",
            "3:44: \"into\" cannot be _id: a document's primary key never changes in place. A "
                + "partner collection has the documents under other keys (shipshape partner)"),
    ]

    static let limits: [JobRefusal] = [
        JobRefusal(limits: "5", "4:9: \"limits\" must be a mapping"),
        JobRefusal(limits: "{chunk: 5}", "4:17: \"chunk\" must be a mapping"),
        JobRefusal(limits: "{chunk: {documents: 0}}", "4:29: \"documents\" must be a whole number of at least 1"),
        JobRefusal(limits: "{chunk: {documents: many}}", "4:29: \"documents\" must be a whole number of at least 1"),
        JobRefusal(
            limits: "{chunk: {time: 5ms}}", "4:24: \"time\" must be from 10ms to 10s, like 500ms or 2s"),
        JobRefusal(
            limits: "{chunk: {time: 11s}}", "4:24: \"time\" must be from 10ms to 10s, like 500ms or 2s"),
        JobRefusal(
            limits: "{chunk: {time: 500}}", "4:24: \"time\" must be from 10ms to 10s, like 500ms or 2s"),
        JobRefusal(limits: "{chunk: {size: 1}}", "4:18: \"chunk\" has no key \"size\"; keys: documents, time, bytes"),
        JobRefusal(
            limits: "{chunk: {bytes: 16MB}}",
            "4:25: \"bytes\" must be a size like 16MiB (KiB, MiB, GiB, or plain bytes)"),
        JobRefusal(
            limits: "{chunk: {bytes: 0}}", "4:25: \"bytes\" must be a size like 16MiB (KiB, MiB, GiB, or plain bytes)"),
        JobRefusal(
            limits: "{chunk: {bytes: -1KiB}}",
            "4:25: \"bytes\" must be a size like 16MiB (KiB, MiB, GiB, or plain bytes)"),
        JobRefusal(
            limits: "{chunk: {bytes: MiB}}", "4:25: \"bytes\" must be a size like 16MiB (KiB, MiB, GiB, or plain bytes)"
        ),
        JobRefusal(
            limits: "{chunk: {bytes: 9999999999999GiB}}",
            "4:25: \"bytes\" must be a size like 16MiB (KiB, MiB, GiB, or plain bytes)"),
        JobRefusal(limits: "{unsynced: 0}", "4:20: \"unsynced\" must be a whole number of at least 1"),
        JobRefusal(limits: "{unsynced: 1.5}", "4:20: \"unsynced\" must be a whole number of at least 1"),
        JobRefusal(
            limits: "{reserve: 100000}",
            "4:19: the reserve is not below the limit of 100000 unsynced documents: nothing could be written"),
        JobRefusal(
            limits: "{reserve: 100%}",
            "4:19: the reserve is not below the limit of 100000 unsynced documents: nothing could be written"),
        JobRefusal(
            limits: "{reserve: 101%}", "4:19: \"reserve\" must be a number of documents, or a percentage like 10%"),
        JobRefusal(
            limits: "{reserve: -1}", "4:19: \"reserve\" must be a number of documents, or a percentage like 10%"),
        JobRefusal(
            limits: "{reserve: ten}", "4:19: \"reserve\" must be a number of documents, or a percentage like 10%"),
        JobRefusal(
            limits: "{unsynced: 10, reserve: 10}",
            "4:33: the reserve is not below the limit of 10 unsynced documents: nothing could be written"),
        JobRefusal(
            limits: "{unsynced: 1}",
            "4:9: the reserve is not below the limit of 1 unsynced documents: nothing could be written"),
        JobRefusal(limits: "{lanes: 0}", "4:17: \"lanes\" must be a whole number of at least 1"),
        JobRefusal(limits: "{lanes: 17}", "4:17: \"lanes\" must be from 1 to 16"),
        JobRefusal(limits: "{nice: 101}", "4:16: \"nice\" must be a number from 0 to 100"),
        JobRefusal(limits: "{nice: -1}", "4:16: \"nice\" must be a number from 0 to 100"),
        JobRefusal(limits: "{nice: nan}", "4:16: \"nice\" must be a number from 0 to 100"),
        JobRefusal(limits: "{nice: very}", "4:16: \"nice\" must be a number from 0 to 100"),
        JobRefusal(limits: "{lag: 10}", "4:15: \"lag\" must be a time like 10s (ms, s, m, h), or off"),
        JobRefusal(limits: "{lag: 0s}", "4:15: \"lag\" must be a time like 10s (ms, s, m, h), or off"),
        JobRefusal(limits: "{tickets: 0%}", "4:19: \"tickets\" must be a percentage from 1% to 100%, or off"),
        JobRefusal(limits: "{cache: 10%}", "4:17: \"cache\" must be a mapping"),
        JobRefusal(limits: "{cache: {dirty: 5}}", "4:25: \"dirty\" must be a percentage from 1% to 100%, or off"),
        JobRefusal(limits: "{ledgerLag: off}", "4:21: \"ledgerLag\" must be a time like 10s (ms, s, m, h)"),
        JobRefusal(
            limits: "{pause: [\"08:00-20:00 Europe/Madird\"]}",
            "4:18: \"pause\": there is no time zone \"Europe/Madird\": name one like Europe/Madrid, or UTC"),
        JobRefusal(limits: "{pause: []}", "4:17: \"pause\" must be a list with at least one entry"),
        JobRefusal(limits: "{lags: 1}", "4:10: \"limits\" has no key \"lags\" (did you mean \"lag\"?)"),
    ]
}
