/// The names of Unicode properties in regular expressions.
enum UnicodeProperty {
    /// Returns PCRE's name of the Unicode property that JavaScript calls `name`; `nil` if PCRE 8 does not know the
    /// property, or if it is not in common use.
    static func name(_ name: String) -> String? {
        let parts = name.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2 else {
            return category(name) ?? (scripts.contains(name) ? name : nil)
        }
        return switch parts[0] {
        case "General_Category", "gc": category(parts[1])
        case "Script", "sc", "Script_Extensions", "scx": scripts.contains(parts[1]) ? parts[1] : nil
        default: nil
        }
    }

    private static func category(_ name: String) -> String? {
        categories[name] ?? (shortCategories.contains(name) ? name : nil)
    }

    private static let shortCategories: Set = [
        "L", "Ll", "Lm", "Lo", "Lt", "Lu", "M", "Mc", "Me", "Mn", "N", "Nd", "Nl", "No", "P", "Pc", "Pd", "Pe", "Pf",
        "Pi", "Po", "Ps", "S", "Sc", "Sk", "Sm", "So", "Z", "Zl", "Zp", "Zs", "C", "Cc", "Cf", "Cn", "Co", "Cs", "Any",
    ]
    private static let categories = [
        "Letter": "L", "Lowercase_Letter": "Ll", "Uppercase_Letter": "Lu", "Titlecase_Letter": "Lt", "Mark": "M",
        "Nonspacing_Mark": "Mn", "Number": "N", "Decimal_Number": "Nd", "Punctuation": "P", "punct": "P", "Symbol": "S",
        "Currency_Symbol": "Sc", "Math_Symbol": "Sm", "Separator": "Z", "Space_Separator": "Zs", "Other": "C",
        "Control": "Cc",
    ]
    /// The scripts that are in common use, all of which PCRE 8 knows.
    private static let scripts: Set = [
        "Arabic", "Armenian", "Bengali", "Bopomofo", "Cherokee", "Common", "Cyrillic", "Devanagari", "Ethiopic",
        "Georgian", "Greek", "Gujarati", "Gurmukhi", "Han", "Hangul", "Hebrew", "Hiragana", "Inherited", "Kannada",
        "Katakana", "Khmer", "Lao", "Latin", "Malayalam", "Mongolian", "Myanmar", "Sinhala", "Tamil", "Telugu",
        "Thaana",
        "Thai", "Tibetan",
    ]
}
