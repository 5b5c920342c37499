internal import BSON
internal import SystemPackage

/// A service that runs a workflow for each pull request.
package enum CIService: String, CaseIterable, Sendable {
    case github, gitlab

    /// Returns the files of the workflow, each with its path and its text.
    ///
    /// The files of `jobs/github-actions` and `jobs/gitlab` are made from this text by `scripts/reference`.
    /// - Parameter schemas: the path of the schema, or of the folder of schemas, in the repository.
    package func files(schemas: String) -> [(String, String)] {
        let path = FilePath(schemas).lexicallyNormalized().string
        let below = path == "." ? "**" : "\(path)/**"
        return switch self {
        case .github: [(".github/workflows/schemas.yml", Self.github(Self.word(path), changes: [path, below]))]
        case .gitlab: [(".gitlab/schemas.yml", Self.gitlab(Self.word(path), changes: [path, "\(below)/*"]))]
        }
    }

    /// Returns the reason why a workflow cannot name a path; `nil` if it can.
    ///
    /// Both services replace `$…` in their files, also inside quotation marks, and read some characters as patterns.
    package func defect(ofPath path: String) -> String? {
        guard path.contains(where: "$`*?[]{}!\\\"'".contains) || path != path.printable else { return nil }
        return "a workflow would not read \(path.printable) as one path: rename it without such characters"
    }

    /// Returns a path as YAML.
    ///
    /// A path with other characters than ASCII letters, digits, `.`, `_`, `-` and `/` is quoted.
    private static func word(_ path: String) -> String {
        path.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-/".contains($0)) } ? path : path.quotedAsYAML
    }

    private static func list(_ paths: [String]) -> String { "[\(paths.map(\.quotedAsYAML).joined(separator: ", "))]" }

    /// The step that is left to the user after the file was written; `nil` if there is none.
    package var note: String? {
        switch self {
        case .github: nil
        case .gitlab: "add to .gitlab-ci.yml: include: [{local: .gitlab/schemas.yml}]"
        }
    }

    private static let package = "https://example.net/shipshape_0.1.0_amd64.deb"

    private static func github(_ schemas: String, changes: [String]) -> String {
        """
        # Checks the schemas of a pull request: what the change breaks, whether the schemas are sound, and which
        # documents of a dump would stop syncing. `shipshape init --ci github` writes this file to .github/workflows.
        # Variables of the repository, none of them a secret of the deployment:
        #   SHIPSHAPE_PACKAGE  where the Debian package of shipshape is (scripts/package builds it)
        #   SHIPSHAPE_DUMP     where a recent dump is, such as a mongodump archive that a nightly job puts into a
        #                      bucket; without it, no documents are checked
        name: schemas
        on:
          pull_request:
            paths: \(list(changes))
        permissions:
          contents: read
        env:
          SCHEMAS: \(schemas)
          PACKAGE: ${{ vars.SHIPSHAPE_PACKAGE || '\(package)' }}
          DUMP: ${{ vars.SHIPSHAPE_DUMP }}
        jobs:
          schemas:
            runs-on: ubuntu-24.04
            # The package is Debian 12's, and so are the libraries that it names.
            container: debian:12
            steps:
              - name: tools
                run: |
                  apt-get update
                  apt-get install -y --no-install-recommends ca-certificates curl git
                  curl -fsSL -o /tmp/shipshape.deb "$PACKAGE"
                  apt-get install -y --no-install-recommends /tmp/shipshape.deb
              # v4.2.2 by its commit: a tag can be moved.
              - uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683
                with:
                  fetch-depth: 0
              - run: git config --global --add safe.directory "$GITHUB_WORKSPACE"

              # A breaking change fails here, beside its line in the pull request.
              - name: diff
                run: |
                  shipshape diff "origin/$GITHUB_BASE_REF:$SCHEMAS" "$SCHEMAS" -o github --report diff.md
              - name: summary
                if: ${{ !cancelled() && hashFiles('diff.md') != '' }}
                run: cat diff.md >>"$GITHUB_STEP_SUMMARY"
              - name: lint
                if: ${{ !cancelled() }}
                run: shipshape lint "$SCHEMAS"

              # The documents come from the dump, so that the build needs no secret of the deployment.
              - name: dump
                if: ${{ !cancelled() && env.DUMP != '' }}
                run: curl -fsSL "$DUMP" -o dump.archive.gz
              - name: documents
                if: ${{ !cancelled() && env.DUMP != '' }}
                run: |
                  git worktree add --detach base "origin/$GITHUB_BASE_REF"
                  export SHIPSHAPE_IDS=hash
                  shipshape check "$SCHEMAS" --active "base/$SCHEMAS" --fail-on new --source dump.archive.gz

        """
    }

    private static func gitlab(_ schemas: String, changes: [String]) -> String {
        """
        # Checks the schemas of a merge request: what the change breaks, whether the schemas are sound, and which
        # documents of a dump would stop syncing. `shipshape init --ci gitlab` writes this file; .gitlab-ci.yml has to
        # include it:
        #   include: [{local: .gitlab/schemas.yml}]
        # Variables of the project, none of them a secret of the deployment:
        #   SHIPSHAPE_PACKAGE  where the Debian package of shipshape is (scripts/package builds it)
        #   SHIPSHAPE_DUMP     where a recent dump is, such as a mongodump archive that a nightly job puts into a
        #                      bucket; without it, no documents are checked
        .schemas:
          # The package is Debian 12's, and so are the libraries that it names.
          image: debian:12
          rules:
            - if: $CI_PIPELINE_SOURCE == "merge_request_event"
              changes: \(list(changes))
          variables:
            SCHEMAS: \(schemas)
            BASE: origin/$CI_MERGE_REQUEST_TARGET_BRANCH_NAME
            GIT_DEPTH: "0"
          before_script:
            - apt-get update
            - apt-get install -y --no-install-recommends ca-certificates curl git
            - curl -fsSL -o /tmp/shipshape.deb "${SHIPSHAPE_PACKAGE:-\(package)}"
            - apt-get install -y --no-install-recommends /tmp/shipshape.deb
            - git config --global --add safe.directory "$CI_PROJECT_DIR"
            - git fetch origin "$CI_MERGE_REQUEST_TARGET_BRANCH_NAME"
          artifacts:
            when: always
            reports: {junit: schemas.xml}

        # A breaking change fails here, and the merge request shows it among its tests.
        schemas-diff:
          extends: .schemas
          script:
            - shipshape diff "$BASE:$SCHEMAS" "$SCHEMAS" --report schemas.xml

        schemas-lint:
          extends: .schemas
          script:
            - shipshape lint "$SCHEMAS" --report schemas.xml

        # The documents come from the dump, so that the build needs no secret of the deployment.
        schemas-documents:
          extends: .schemas
          rules:
            - if: $CI_PIPELINE_SOURCE == "merge_request_event" && $SHIPSHAPE_DUMP
              changes: \(list(changes))
          script:
            - curl -fsSL "$SHIPSHAPE_DUMP" -o dump.archive.gz
            - git worktree add --detach base "$BASE"
            - export SHIPSHAPE_IDS=hash
            - shipshape check "$SCHEMAS" --active "base/$SCHEMAS" --fail-on new --source dump.archive.gz
              --report schemas.xml

        """
    }
}
