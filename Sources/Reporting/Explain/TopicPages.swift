/// The pages on topics that concern all commands.
package enum TopicPages {
    /// The names of all topics, as `shipshape explain` takes them.
    package static let names = ["connection", "output", "exit-codes", "rules"]

    static let all = pages(
        #"""
        connection
        the deployment: `--uri`, else `SHIPSHAPE_URI`, else `uri` in shipshape.yml, which may name the variable that
            holds it: `uri: ${MONGODB_URI}`. A named section below `environments` has values of its own; `--env` or
            `SHIPSHAPE_ENV` chooses it
        who asks it: most commands. diff, lint and plan OLD NEW also work without one, or with `--offline`
        the login: the setting `username`; the password from `SHIPSHAPE_PASSWORD`, else the file of the setting
            `password-file`, else typed at the terminal. Keep it out of `--uri`, because other users can see the options
        TLS and the rest: options of the connection string: `tls=true`, `tlsCAFile`, `tlsCertificateKeyFile` (its
            password in `SHIPSHAPE_TLS_KEY_PASSWORD`), `authSource`, `compressors`, `serverSelectionTimeoutMS`,
            `readPreference` for commands that only read
        the database: Prisma schemas and checks without a schema name only collections: the database is that of
            `--collection`, else the setting `database`, else that in the path of the connection string, else that in
            the url of the Prisma schema. No command connects by that url
        the settings: `shipshape doctor --settings list` shows each with its source; `shipshape doctor` tries the
            connection
        example: `shipshape status --uri 'mongodb://db1,db2/?replicaSet=rs0&tls=true&tlsCAFile=ca.pem'`

        output
        standard output: the result, in the form of `-o`; the help of each command lists the forms. JSON carries
            `schema_version`; a stream of JSON lines ends with a record `result`
        files: `--report FILE` (repeatable) also writes the result in the form that the ending names; the help lists
            the endings. `--metrics FILE` writes a Prometheus textfile
        standard error: progress, notes, warnings and errors; the setting `log-format` makes it JSON. `--quiet` leaves
            out progress and notes
        colours: on a terminal, unless `NO_COLOR` is set; everywhere if `FORCE_COLOR` is
        data of documents: `_id`s are shown; the setting `ids` hashes or hides them. Values are shown only with
            `--show-values`
        example: `shipshape check schemas/v2 -o json --report check.html`
        """#)

    /// Reads pages from a text of blocks.
    ///
    /// A block begins with the topic on a line of its own. Each statement follows as `title: text`, and continues on
    /// lines that are indented.
    private static func pages(_ text: String) -> [Explanation] {
        text.split(separator: "\n\n").map { block in
            var lines = block.split(separator: "\n").map { String($0) }
            let topic = lines.removeFirst()
            var statements: [Explanation.Statement] = []
            for line in lines {
                if line.hasPrefix(" "), let last = statements.popLast() {
                    let rest = line.drop { $0 == " " }
                    statements.append(.init(title: last.title, text: last.text + " " + rest))
                } else if let colon = line.firstRange(of: ": ") {
                    let title = String(line[..<colon.lowerBound])
                    statements.append(.init(title: title, text: String(line[colon.upperBound...])))
                }
            }
            return Explanation(code: topic, section: .topics, statements: statements)
        }
    }
}
