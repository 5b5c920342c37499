import Patterns
import ServerSchema

/// Translates regular expressions.
extension Translator {
    /// Returns a regular expression as MongoDB spells it; `nil` if MongoDB cannot use it.
    ///
    /// Notes why it cannot, or in which respect MongoDB reads the expression differently.
    mutating func usable(
        _ text: String, mode: Pattern.Mode, path: SchemaPath, _ location: SourceLocation
    ) -> String? {
        let translation = PatternTranslation(text)
        let result = translation.text(for: mode)
        let reason: String
        do throws(PatternError) {
            // An expression that only PCRE 8 reads would fail on MongoDB 6.1 and later.
            let refusal = try Pattern(result, mode: mode).refusalByPCRE2
            guard let refusal = refusal ?? translation.refusal else {
                for difference in translation.differences.sorted() {
                    note(.decision, .patternDiffers, path, location, "in a pattern, \(difference)")
                }
                return result
            }
            reason = refusal
        } catch { reason = "\(error)" }
        lose(.warning, .patternUnusable, path, location, "the pattern \(text) is left out: \(reason)")
        return nil
    }
}
