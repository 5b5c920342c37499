/// Finds the known word that a misspelt word probably means.
package enum Spelling {
    private static let mostCandidates = 1_000
    /// The number of bytes up to which a word is compared; a longer one is rarely typed by hand.
    private static let longest = 100

    /// Returns the candidate that the user probably meant by `word`; `nil` if no candidate is similar enough.
    static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
        nearest(to: word, among: candidates, most: 1).first
    }

    /// Returns the candidates that the user may have meant by `word`, the most similar first; empty if none is similar.
    package static func nearest(to word: String, among candidates: some Sequence<String>, most: Int) -> [String] {
        guard word.utf8.count <= longest else { return [] }
        let lowered = Array(word.lowercased().utf8)
        let letters = letters(lowered)
        let limit = max(1, lowered.count / 3)
        var near: [(word: String, distance: Int)] = []
        for candidate in candidates.prefix(mostCandidates) {
            let other = Array(candidate.lowercased().utf8)
            // An edit changes at most two of the letters that only one of the words has.
            guard abs(other.count - lowered.count) <= limit,
                (letters ^ Self.letters(other)).nonzeroBitCount <= 2 * limit
            else { continue }
            let distance = distance(lowered, other)
            if distance <= limit, !near.contains(where: { $0.word == candidate }) { near.append((candidate, distance)) }
        }
        // Candidates at the same distance stay in their order.
        let order = near.indices.sorted { (near[$0].distance, $0) < (near[$1].distance, $1) }
        return order.prefix(most).map { near[$0].word }
    }

    /// Returns a bit for each letter of a word; several letters share a bit.
    private static func letters(_ word: [UInt8]) -> UInt64 { word.reduce(0) { $0 | 1 << UInt64($1 & 63) } }

    /// Returns the number of edits between two words; an edit inserts, removes or replaces a byte, or swaps two
    /// neighbouring bytes.
    static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for i in left.indices {
            var row = [i + 1]
            for j in right.indices {
                var best = min(last[j] + (left[i] == right[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    best = min(best, beforeLast[j - 1] + 1)
                }
                row.append(best)
            }
            beforeLast = last
            last = row
        }
        return last[right.count]
    }

    /// Returns `did you mean "…"?` with the candidate that is probably meant; `nil` if no candidate is similar enough.
    package static func hint(for word: String, among candidates: some Sequence<String>) -> String? {
        nearest(to: word, among: candidates).map { "did you mean \"\($0)\"?" }
    }

    /// Returns `did you mean "…"?` with the path that is probably meant; `nil` if no candidate is similar enough.
    ///
    /// In a path, `[]` means the elements of a list, and `{}` the values of a dictionary. A candidate that differs only
    /// in these marks takes precedence over all others.
    package static func hint(forPath path: String, among candidates: some Sequence<String>) -> String? {
        func names(_ path: String) -> String { path.replacing("[]", with: "").replacing("{}", with: "") }
        let wanted = names(path).split(separator: ".")
        let same = candidates.first { names($0).split(separator: ".") == wanted }
        return same.map { "did you mean \"\($0)\"?" } ?? hint(for: path, among: candidates)
    }
}
