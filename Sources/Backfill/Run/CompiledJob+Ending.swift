import BSON
import Jobs

extension CompiledJob {
    /// Whether nothing that is found in the documents could stand against a run: it ends, does no harm, and leaves alone
    /// what it cannot change.
    var isSafeByForm: Bool {
        endsByConstruction && isHarmless && job.steps.allSatisfy { $0.step.kind.refuses.isEmpty }
    }

    /// Whether the steps' own forms prove that no document needs the job after it, so that no document has to be asked:
    /// none states its change freely, and none reads or writes what another one writes.
    var endsByConstruction: Bool {
        let kinds = job.steps.map(\.step.kind)
        let reads = job.steps.map(\.step.reads)
        // What the server takes for equal to a link of a map is not told from the map alone.
        guard isServerSide, !kinds.contains(where: { $0.isFreeForm || $0 is RemapLinkStep }) else { return false }
        return kinds.indices.allSatisfy { index in
            let written = Set(kinds[index].touched.map { $0.components[0] })
            return kinds.indices.allSatisfy { other in
                other == index
                    || written.isDisjoint(with: (kinds[other].touched + reads[other]).map { $0.components[0] })
            }
        }
    }
}
