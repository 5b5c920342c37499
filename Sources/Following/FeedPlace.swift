package import BSON
package import Mongo

/// A place in a stream of changes.
package enum FeedPlace: Hashable, Sendable {
    /// Behind what an earlier feed told.
    case behind(ResumeToken)
    /// At a time.
    case at(ClusterTime)
}

extension FeedPlace {
    /// Reads what ``document`` gave; `nil` for anything else.
    package init?(_ document: BSONDocument) {
        if let token = document["token"]?.document {
            self = .behind(ResumeToken(token))
        } else if case .timestamp(let time)? = document["time"] {
            self = .at(ClusterTime(rawValue: time))
        } else {
            return nil
        }
    }

    /// The place as it is kept between runs.
    package var document: BSONDocument {
        switch self {
        case .behind(let token): ["token": .object(token.document)]
        case .at(let time): ["time": .timestamp(time.rawValue)]
        }
    }

    /// Where a change stream begins.
    var option: (String, BSONValue) {
        switch self {
        case .behind(let token): ("resumeAfter", .object(token.document))
        case .at(let time): ("startAtOperationTime", .timestamp(time.rawValue))
        }
    }
}
