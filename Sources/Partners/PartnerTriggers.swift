import BSON
import JobState
import Steps

/// Makes the files of App Services triggers and functions that keep the original collection and the partner collection
/// equal.
///
/// Each of the two collections has one trigger and one function. The function handles a change as the mirror does: it
/// reads the current document and converts it with a server-side pipeline. It then compares the result with the
/// document in the other collection, and writes the result only if the two differ.
package struct PartnerTriggers: Sendable {
    /// A file of the App Services app.
    package struct File: Sendable {
        /// The file's path, relative to the folder with the app's files.
        package var path: String
        package var text: String
    }

    private let partner: Partner
    private let service: String

    /// Stores the partner for which the triggers and functions are written.
    /// - Parameter service: the name of the app's data source.
    package init(_ partner: Partner, service: String) { (self.partner, self.service) = (partner, service) }

    /// Returns all files of the triggers and functions.
    /// - Throws: ``RunError`` when a function cannot compute a step or convert an `_id`.
    package func files() throws -> [File] {
        guard let forward = partner.steps(from: .source).markedStages,
            let reverse = partner.steps(from: .target).markedStages
        else {
            throw RunError(
                .schemaMismatch,
                "an App Services function cannot compute one of the steps: use partner mirror")
        }
        if partner.job.id?.kind == .uuid {
            throw RunError(
                .schemaMismatch, "an App Services function cannot convert the text of a uuid: use partner mirror")
        }
        var files: [File] = []
        for side in PartnerSide.allCases {
            let name = name(from: side)
            files.append(File(path: "triggers/\(name).json", text: trigger(name, side)))
            let (there, back) = side == .source ? (forward, reverse) : (reverse, forward)
            files.append(File(path: "functions/\(name).js", text: try function(side, there, back)))
        }
        files.append(File(path: "functions/config.json", text: config))
        return files
    }

    private func name(from side: PartnerSide) -> String {
        let base = partner.job.name.map { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" ? $0 : "_" }
        return "\(String(base).prefix(48))_from_\(side.rawValue)"
    }

    private func trigger(_ name: String, _ side: PartnerSide) -> String {
        let namespace = partner.job.namespace(side)
        return """
            {
                "name": \(Self.json(name)),
                "type": "DATABASE",
                "disabled": false,
                "config": {
                    "service_name": \(Self.json(service)),
                    "database": \(Self.json(namespace.database)),
                    "collection": \(Self.json(namespace.collection)),
                    "operation_types": ["INSERT", "UPDATE", "REPLACE", "DELETE"],
                    "full_document": false,
                    "full_document_before_change": false,
                    "tolerate_resume_errors": false,
                    "skip_catchup_events": false,
                    "unordered": false,
                    "match": {},
                    "project": {}
                },
                "event_processors": {
                    "FUNCTION": { "config": { "function_name": \(Self.json(name)) } }
                }
            }

            """
    }

    private var config: String {
        let entries = PartnerSide.allCases.map { side in
            "    { \"name\": \(Self.json(name(from: side))), \"private\": true, \"run_as_system\": true }"
        }
        return "[\n\(entries.joined(separator: ",\n"))\n]\n"
    }

    private func function(_ side: PartnerSide, _ there: [BSONDocument], _ back: [BSONDocument]) throws -> String {
        let (from, to) = (partner.job.namespace(side), partner.job.namespace(side.other))
        return """
            // Carries each change of \(Self.comment("\(from)")) over to \(Self.comment("\(to)")).
            // `shipshape partner plan --triggers` wrote this file. To change it, change the partner job, remove this
            // file, and run the command again. The pipelines convert a document for the other side, and back.
            const there = \(try Self.stages(there));
            const back = \(try Self.stages(back));
            // ownHere: the fields that only \(Self.comment("\(from)")) has.
            // ownThere: the fields that only \(Self.comment("\(to)")) has.
            const ownHere = \(Self.json(partner.job.own(side)));
            const ownThere = \(Self.json(partner.job.own(side.other)));

            \(conversions(side))

            const has = (object, name) => Object.prototype.hasOwnProperty.call(object, name);
            // Sets a property, even one named __proto__. A plain assignment to that name would set the prototype.
            function set(object, name, value) {
              Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
              return object;
            }
            // Returns the value with the fields of all its objects sorted, because their order does not matter.
            function ordered(value) {
              if (Array.isArray(value)) return value.map(ordered);
              if (value === null || typeof value !== "object") return value;
              return Object.keys(value).sort().reduce((made, key) => set(made, key, ordered(value[key])), {});
            }
            // Returns a document as text, without the fields named in left.
            function text(document, left) {
              const plain = JSON.parse(EJSON.stringify(document, { relaxed: false }));
              for (const name of left) delete plain[name];
              return JSON.stringify(ordered(plain));
            }

            exports = async function (event) {
              if (!event.documentKey) return;
              const service = context.services.get(\(Self.json(service)));
              const here = service.db(\(Self.json(from.database))).collection(\(Self.json(from.collection)));
              const other = service.db(\(Self.json(to.database))).collection(\(Self.json(to.collection)));
              const id = event.documentKey._id;
              const twin = twinOf(id);
              if (twin === undefined) {
                console.error(\(Self.json("\(from): skipped a document: its _id cannot be converted for \(to)")));
                return;
              }
              const only = { $match: { _id: id } };
              const without = ownHere.length > 0 ? [{ $unset: ownHere }] : [];
              // Reads the document as it is now, because it may have changed since the event.
              const [now] = await here.aggregate([only]).toArray();
              const present = await other.findOne({ _id: twin });
              if (!now) {
                if (present) await other.deleteOne({ _id: twin });
                return;
              }
              const run = (stages) => here.aggregate([only, ...without, \
            ...EJSON.parse(JSON.stringify(stages))]).toArray();
              const [made] = await run(there);
              const [returned] = await run([...there, ...back]);
              if (!made || !returned) return;
              const isTroubled = made.__shipshape === true || returned.__shipshape === true;
              delete made.__shipshape;
              delete returned.__shipshape;
              if (isTroubled || text(returned, ownHere) !== text(now, ownHere)) {
                console.error(\(Self.json("\(from): skipped a document: converting it and back changes it")));
                return;
              }
              made._id = twin;
              if (present) {
                for (const name of ownThere) {
                  delete made[name];
                  if (has(present, name)) set(made, name, present[name]);
                }
                // Writes nothing if the other side already has this document. Otherwise the two triggers would call
                // each other without end.
                if (text(made, []) === text(present, [])) return;
                await other.replaceOne({ _id: twin }, made);
              } else {
                await other.insertOne(made);
              }
            };
            if (typeof module !== "undefined") module.exports = exports;

            """
    }

    /// Returns the JavaScript function that converts the `_id` of a document on the given side to the `_id` of its
    /// counterpart.
    private func conversions(_ side: PartnerSide) -> String {
        guard let id = partner.job.id else { return "const twinOf = (id) => id;" }
        let plain = "const plain = JSON.parse(EJSON.stringify({ id }, { relaxed: false })).id;"
        switch (id.kind, side == id.texts) {
        case (.objectId, false): return "function twinOf(id) {\n  \(plain)\n  return plain && plain.$oid;\n}"
        case (.objectId, true):
            return """
                function twinOf(id) {
                  if (typeof id !== "string" || !/^[0-9a-f]{24}$/.test(id)) return undefined;
                  return EJSON.parse(JSON.stringify({ id: { $oid: id } })).id;
                }
                """
        case (.int, false):
            return "function twinOf(id) {\n  \(plain)\n  return plain && (plain.$numberInt || plain.$numberLong);\n}"
        case (.int, true):
            // A number of at most 32 bits becomes an int, and any other a long, as in ``IDConversion``. The function
            // compares a number with the limits of a long as text, because JavaScript numbers of that size are inexact.
            return """
                function twinOf(id) {
                  if (typeof id !== "string" || !/^(0|-?[1-9][0-9]{0,18})$/.test(id)) return undefined;
                  const end = id.startsWith("-") ? "-9223372036854775808" : "9223372036854775807";
                  if (id.length === end.length && id > end) return undefined;
                  const isInt = Number(id) >= -2147483648 && Number(id) <= 2147483647;
                  const json = JSON.stringify({ id: { [isInt ? "$numberInt" : "$numberLong"]: id } });
                  return EJSON.parse(json, { relaxed: false }).id;
                }
                """
        case (.uuid, _): return "const twinOf = () => undefined;"
        }
    }

    private static func stages(_ stages: [BSONDocument]) throws -> String {
        let texts = try stages.map { Self.javaScript(try $0.extendedJSON()) }
        return texts.isEmpty ? "[]" : "[\n  \(texts.joined(separator: ",\n  "))\n]"
    }

    private static func comment(_ text: String) -> String { text.printable.replacing("</", with: #"<\/"#) }

    private static func json(_ text: String) -> String { javaScript(text.quotedAsJSON) }

    private static func json(_ names: [String]) -> String { "[\(names.map(json).joined(separator: ", "))]" }

    /// Returns JSON text as a JavaScript literal of the same value; the literal is also JSON if no field is named
    /// `__proto__`.
    ///
    /// A field with this name becomes a computed name, because `"__proto__": value` in a literal would set the object's
    /// prototype. Line separators are escaped, because engines older than ES2019 end a string there. The slash in `</`
    /// is escaped, because an HTML page may end a script there.
    private static func javaScript(_ json: String) -> String {
        // Quotation marks inside a string are escaped, so only the name of a field matches.
        json.replacing(#" "__proto__" :"#, with: #" ["__proto__"] :"#).replacing("</", with: #"<\/"#)
            .unicodeScalars.reduce(into: "") { $0 += $1.misleads ? $1.escapedAsJSON : String($1) }
    }
}
