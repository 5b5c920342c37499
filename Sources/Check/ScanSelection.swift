package import BSON
package import Checking

/// Which documents a check reads, and how.
package struct ScanSelection {
    /// The filter for the documents to read; `nil` for all.
    package var filter: BSONDocument?
    /// How many random documents to read; `nil` for all.
    package var sample: Int?
    /// The part of each collection to read; `nil` for the whole.
    package var part: CheckPart?
    /// The other names under which databases and collections are read.
    package var map: [NamespaceMapping] = []
    /// How many parts of a collection to read at the same time.
    package var threads = 2
    /// The most documents to read per second, over all threads; `nil` for no limit.
    package var rate: Int?
    /// Whether the server leaves out documents that a filter proves good, where that is possible.
    package var prefilter = false

    package init() {}
}
