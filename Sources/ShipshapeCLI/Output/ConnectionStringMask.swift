/// Takes credentials out of what is echoed of the command line: a connection string may stand where it does not belong.
enum ConnectionStringMask {
    /// The text with `***` for all that stands between a connection string's scheme and its last `@`.
    static func mask(_ text: String) -> String {
        // A path's slashes may have been joined.
        text.replacing(/(mongodb(?:\+srv)?:\/+)[^\s]*@/) { "\($0.output.1)***@" }
    }
}
