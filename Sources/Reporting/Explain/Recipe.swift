internal import CPages

/// A recipe of the guide `docs/guide/recipes.md`, which the program carries with it: a question, and the job that
/// answers it.
package struct Recipe: Hashable, Sendable {
    /// The heading, which is the question in a few words.
    package let question: String
    /// Other words for the same question.
    package let wordings: [String]
    /// A few sentences in Markdown on the documents that the job leaves alone, and the work before it.
    package let text: String
    /// The job file.
    package let job: String
    /// A document before and after the job, as extended JSON.
    package let before: String, after: String

    /// The recipes in the order of the page.
    package static let all: [Recipe] = {
        let page = unsafe shipshape_recipes()
        let text = unsafe String(decoding: UnsafeBufferPointer(start: page.bytes, count: page.size), as: UTF8.self)
        return text.split(separator: "\n### ").dropFirst().compactMap { Recipe(section: $0) }
    }()

    /// Reads the section of a recipe; `nil` for a section without a job.
    private init?(section: Substring) {
        let body = section.split(separator: "\n## ")[0]
        let parts = body.split(separator: "\n```", omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 4, parts[1].hasPrefix("yaml\n"), parts[3].hasPrefix("json\n") else { return nil }
        var lines = parts[0].split(separator: "\n").map(String.init)
        question = lines.removeFirst()
        let also = "*Also: "
        if let line = lines.first, line.hasPrefix(also), line.hasSuffix(".*") {
            wordings = line.dropFirst(also.count).dropLast(2).split(separator: ";").map {
                String($0.drop { $0 == " " })
            }
            lines.removeFirst()
        } else {
            wordings = []
        }
        text = lines.joined(separator: " ")
        job = String(parts[1].dropFirst("yaml\n".count))
        let documents = parts[3].split(separator: "\n").dropFirst()
        guard documents.count == 2, let first = documents.first, let last = documents.last else { return nil }
        (before, after) = (String(first), String(last))
    }

    /// Returns the recipes whose question, or another wording of it, has at least half of the words of a text, the
    /// nearest first.
    package static func recipes(for text: String) -> [Recipe] {
        let asked = words(text)
        guard !asked.isEmpty else { return [] }
        let scored = all.map { recipe in
            let shares = ([recipe.question] + recipe.wordings).map { wording in
                let own = words(wording)
                let common = Double(own.intersection(asked).count)
                return common * 2 < Double(asked.count) ? 0 : common / Double(own.union(asked).count)
            }
            return (recipe, share: shares.max() ?? 0)
        }
        // The sort is stable, so recipes that are equally near stay in the order of the page.
        return scored.filter { $0.share > 0 }.sorted { $0.share > $1.share }.map(\.0)
    }

    /// Returns the words of a text without the ones that say little, and without the ending of a plural.
    static func words(_ text: String) -> Set<String> {
        let words = text.lowercased().split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "$" }
        return Set(
            words.filter { !little.contains($0) }.map { word in
                word.count > 3 && word.hasSuffix("s") ? String(word.dropLast()) : String(word)
            })
    }

    private static let little: Set<Substring> = [
        "a", "an", "and", "as", "by", "do", "for", "from", "how", "i", "in", "into", "is", "it", "my", "of", "on", "or",
        "that", "the", "to", "with",
    ]
}
