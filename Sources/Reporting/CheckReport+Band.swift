import Checking
import ServerSchema

extension CheckReport {
    /// The verdict's name for machines.
    ///
    /// Where a schema is removed, documents stop though none fails; under a validator none stops.
    var bandName: String {
        switch verdict.band {
        case .safe where !lost.isEmpty: DeployVerdict.Band.documentsWillStop.rawValue
        case .documentsWillStop where dialect == .jsonSchema: "documents_do_not_fit"
        default: verdict.band.rawValue
        }
    }
}
