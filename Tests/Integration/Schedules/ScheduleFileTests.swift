import Foundation
import SystemPackage
import TestSupport
import Testing
import Yams

/// Tests the files of `jobs/` that a scheduler reads: units of systemd and manifests of Kubernetes.
@Suite struct ScheduleFileTests {
    /// Verifies the units as they are installed, with `/bin/true` in place of the program that they start.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze")))
    func systemdFindsNoFaultInTheUnits() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let script = #"""
            set -e
            cd "$2"
            cp "$1"/shipshape-nightly.* .
            cp "$1/shipshape-backfill@.service" shipshape-backfill@person.service
            cp "$1/shipshape-mirror@.service" shipshape-mirror@task-v2.service
            cp "$1/shipshape-ledger.service" .
            # What they start need not be installed here.
            sed -i 's,^ExecStart=[^ ]*,ExecStart=/bin/true,' *.service
            systemd-analyze verify --man=no ./shipshape-nightly.service ./shipshape-nightly.timer \
                ./shipshape-backfill@person.service ./shipshape-mirror@task-v2.service ./shipshape-ledger.service
            """#
        let run = try await Program.shell(script, [Repository.path("jobs/systemd").string, folder.path.string])
        #expect(run.exitCode == 0)
        #expect(run.errors == "")
    }

    /// The tag of a GitHub action can be moved to another commit, so the workflows must name the commit itself.
    @Test(arguments: ["jobs/github-actions/schemas.yml", ".github/workflows/release.yml"])
    func workflowsNameEachActionByItsCommit(_ file: String) throws {
        let text = try String(contentsOfFile: Repository.path(file).string, encoding: .utf8)
        _ = try #require(try Yams.compose(yaml: text))
        let actions = text.matches(of: /uses: (\S+)/).map { $0.1 }
        #expect(!actions.isEmpty)
        for action in actions { #expect(action.contains(/@[0-9a-f]{40}$/), "\(action)") }
    }

    @Test(arguments: ["nightly-cronjob.yaml", "backfill-job.yaml", "backfill-parts-job.yaml"])
    func kubernetesRunsThePodUnprivilegedWithASecretForTheDeployment(_ name: String) throws {
        let text = try String(contentsOfFile: Repository.path("jobs/kubernetes/\(name)").string, encoding: .utf8)
        let root = try #require(try Yams.compose(yaml: text))
        #expect(root["apiVersion"]?.string == "batch/v1")
        let job = root["spec"]?["jobTemplate"]?["spec"] ?? root["spec"]
        // Kubernetes lets exit codes decide about retries only if the restart policy is "Never".
        let pod = try #require(job?["template"]?["spec"])
        #expect(pod["restartPolicy"]?.string == "Never")
        #expect(job?["podFailurePolicy"]?["rules"]?.sequence?.isEmpty == false)
        try checkPod(pod)
    }

    @Test func kubernetesGivesEachRunnerAPart() throws {
        let path = Repository.path("jobs/kubernetes/backfill-parts-job.yaml").string
        let spec = try #require(try Yams.compose(yaml: String(contentsOfFile: path, encoding: .utf8))?["spec"])
        #expect(spec["completionMode"]?.string == "Indexed")
        let count = try #require(spec["completions"]?.int)
        #expect(spec["parallelism"]?.int == count)
        let line = spec["template"]?["spec"]?["containers"]?[0]?["args"]?[0]?.string
        #expect(line?.contains("--part $((JOB_COMPLETION_INDEX + 1))/\(count) ") == true)
    }

    @Test(arguments: ["mirror-deployment.yaml", "ledger-deployment.yaml"])
    func kubernetesKeepsOneServiceAtATime(_ name: String) throws {
        let text = try String(contentsOfFile: Repository.path("jobs/kubernetes/\(name)").string, encoding: .utf8)
        let root = try #require(try Yams.compose(yaml: text))
        #expect(root["kind"]?.string == "Deployment" && root["spec"]?["replicas"]?.int == 1)
        #expect(root["spec"]?["strategy"]?["type"]?.string == "Recreate")
        let labels = root["spec"]?["template"]?["metadata"]?["labels"]
        #expect(labels != nil && labels == root["spec"]?["selector"]?["matchLabels"])
        try checkPod(try #require(root["spec"]?["template"]?["spec"]))
    }

    /// Each service of systemd starts an existing command, with flags that the command accepts.
    @Test(arguments: ["systemd/shipshape-mirror@.service", "systemd/shipshape-ledger.service"])
    func theServicesStartWhatTheProgramKnows(_ name: String) async throws {
        let text = try String(contentsOfFile: Repository.path("jobs/\(name)").string, encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let places = [
            "/run/shipshape/ledger": folder.path.string, "/run/shipshape/mirror-%i": folder.path.string,
            "${SHIPSHAPE_SCHEMA}": "none.json",
        ]
        let arguments = line.split(separator: " ").dropFirst().map { word in
            places.reduce(String(word)) { $0.replacing($1.key, with: $1.value) }
        }
        let run = try await Program.run(arguments + ["--uri", "mongodb://127.0.0.1:1"])
        // The command accepts its flags, and ends because the files that it names do not exist.
        #expect(run.exitCode == 65, "\(run.errors)")
    }

    /// Expects that a pod does not run as root, gets its secrets from the cluster, and mounts all of its volumes.
    private func checkPod(_ pod: Node) throws {
        #expect(pod["securityContext"]?["runAsNonRoot"]?.bool == true)
        let container = try #require(pod["containers"]?.array().first)
        let secrets = ["SHIPSHAPE_URI", "SHIPSHAPE_PASSWORD"]
        for variable in try #require(container["env"]?.array())
        where variable["name"]?.string.map(secrets.contains) == true {
            #expect(variable["valueFrom"]?["secretKeyRef"] != nil)
        }
        let volumes = try #require(pod["volumes"]?.array()).compactMap { $0["name"]?.string }
        let mounts = try #require(container["volumeMounts"]?.array()).compactMap { $0["name"]?.string }
        #expect(Set(mounts) == Set(volumes), "a volume is not mounted, or not there")
    }
}
