// swift-tools-version: 6.2
import PackageDescription

/// The products that more than one target uses, named once.
extension Target.Dependency {
    static let logging: Self = .product(name: "Logging", package: "swift-log")
    static let argumentParser: Self = .product(name: "ArgumentParser", package: "swift-argument-parser")
    static let mustache: Self = .product(name: "Mustache", package: "swift-mustache")
    static let rainbow: Self = .product(name: "Rainbow", package: "Rainbow")
    static let subprocess: Self = .product(name: "Subprocess", package: "swift-subprocess")
    static let system: Self = .product(name: "SystemPackage", package: "swift-system")
    static let yams: Self = .product(name: "Yams", package: "Yams")
}

/// The commit that `--version` prints.
///
/// Only `scripts/package` sets the environment variable. Otherwise, a development build would have to link again after
/// each commit.
let commit = (Context.environment["SHIPSHAPE_COMMIT"] ?? "").filter { $0.isLetter || $0.isNumber || $0 == "-" }

/// The targets that a release build does not optimize.
///
/// The speed of these targets does not depend on the number of documents, or they mostly wait for the server, as
/// `Partners` does. Optimizing them takes as long as compiling everything else.
let roomsThatWait: Set = [
    "Processes", "Privileges", "ServerSchema", "Jobs", "ClientModels", "LocatedYAML", "Importing", "SchemaChange",
    "JobReports", "Following", "Watching", "Partners", "Planning", "Enforcing", "Reporting", "Files", "Check",
    "ShipshapeCLI",
]

/// Whether a release build optimizes a target.
///
/// `SHIPSHAPE_OPTIMIZE` is `all` in `scripts/package` and `scripts/bench`, because their programs must be fast.
func isOptimized(_ room: String) -> Bool {
    Context.environment["SHIPSHAPE_OPTIMIZE"] == "all" || !roomsThatWait.contains(room)
}

let package = Package(
    name: "shipshape",
    products: [
        .executable(name: "shipshape", targets: ["ShipshapeCLI"]),
        .library(name: "ShipshapeChecking", targets: ["BSON", "Patterns", "ServerSchema", "SchemaChange", "Checking"]),
    ],
    // The versions are exact, so that two clones build the same program. Package.resolved is not committed: if packages
    // are resolved from a mirror, the file names commits that GitHub does not have.
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", exact: "2.1.1"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/onevcat/Rainbow", exact: "4.2.2"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", exact: "1.0.2"),
    ],
    targets: [
        .systemLibrary(name: "CPCRE2", pkgConfig: "libpcre2-8", providers: [.apt(["libpcre2-dev"])]),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CBSON", pkgConfig: "libbson-1.0", providers: [.apt(["libbson-dev"])]),
        .systemLibrary(
            name: "CMongoC", pkgConfig: "libmongoc-1.0", providers: [.apt(["libmongoc-dev", "libbson-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

        .target(name: "CRelease", cSettings: [.define("SHIPSHAPE_COMMIT", to: "\"\(commit)\"")]),
        .target(name: "CPages"),
        .target(name: "BSON", dependencies: ["CBSON", "CZlib", .system]),
        .target(name: "Concurrency"),
        .target(name: "Processes", dependencies: ["Concurrency", .subprocess, .system]),
        .target(name: "Mongo", dependencies: ["CMongoC", "CCrypto", "Concurrency", "BSON"]),
        .target(name: "Privileges", dependencies: ["Mongo", "BSON"]),
        .target(name: "Patterns", dependencies: ["CPCRE2"]),
        .target(name: "ServerSchema", dependencies: ["Patterns", "BSON", .system]),
        .target(name: "ClientModels", dependencies: ["ServerSchema", "BSON", .mustache]),
        .target(name: "LocatedYAML", dependencies: ["ServerSchema", .yams]),
        .target(name: "Importing", dependencies: ["LocatedYAML", "ServerSchema", "Patterns", "BSON", .yams]),
        .target(name: "SchemaChange", dependencies: ["ServerSchema", "BSON"]),
        .target(name: "Checking", dependencies: ["SchemaChange", "ServerSchema", "Patterns", "BSON"]),
        .target(name: "Inferring", dependencies: ["Checking", "ServerSchema", "BSON"]),
        .target(name: "Scanning", dependencies: ["Checking", "ServerSchema", "Mongo", "Concurrency", "BSON"]),
        .target(
            name: "Jobs",
            dependencies: [
                "CCrypto", "LocatedYAML", "Checking", "SchemaChange", "ServerSchema", "Concurrency", "BSON", .yams,
            ]),
        .target(name: "Evaluating", dependencies: ["Jobs", "Patterns", "Concurrency", "BSON"]),
        .target(
            name: "JobState",
            dependencies: ["Jobs", "Checking", "ServerSchema", "Mongo", "Concurrency", "BSON", .system]),
        .target(
            name: "Running",
            dependencies: ["JobState", "Jobs", "Scanning", "Checking", "Mongo", "Processes", "Concurrency", "BSON"]),
        .target(
            name: "Steps",
            dependencies: [
                "Evaluating", "JobState", "Jobs", "LocatedYAML", "Scanning", "Checking", "SchemaChange", "ServerSchema",
                "Mongo", "Concurrency", "BSON",
            ]),
        .target(
            name: "Proving",
            dependencies: [
                "CPages", "Running", "Steps", "Evaluating", "JobState", "Jobs", "LocatedYAML", "Scanning", "Checking",
                "ServerSchema", "Mongo", "Concurrency", "BSON",
            ]),
        .target(
            name: "JobReports",
            dependencies: [
                "Running", "Steps", "JobState", "Jobs", "LocatedYAML", "Checking", "ServerSchema", "Concurrency",
                "BSON", .system,
            ]),
        .target(
            name: "Backfill",
            dependencies: [
                "JobReports", "Proving", "Evaluating", "Running", "Steps", "JobState", "Jobs", "LocatedYAML",
                "Scanning",
                "Checking", "SchemaChange", "ServerSchema", "Mongo", "Concurrency", "BSON", .system,
            ]),
        .target(
            name: "Enforcing", dependencies: ["JobState", "Checking", "Mongo", "Concurrency", "BSON"]),
        .target(name: "Following", dependencies: ["Mongo", "Concurrency", "BSON"]),
        .target(
            name: "Watching",
            dependencies: [
                "Following", "Running", "JobState", "Jobs", "Scanning", "Checking", "ServerSchema", "Mongo",
                "Concurrency", "BSON",
            ]),
        .target(
            name: "Partners",
            dependencies: [
                "Following", "Running", "Steps", "JobState", "Jobs", "LocatedYAML", "Scanning", "Checking",
                "SchemaChange",
                "ServerSchema", "Mongo", "Concurrency", "BSON", .yams,
            ]),
        .target(
            name: "Planning",
            dependencies: [
                "Partners", "Steps", "JobState", "Jobs", "LocatedYAML", "Scanning", "Checking", "SchemaChange",
                "ServerSchema", "Mongo", "BSON",
            ]),
        .target(
            name: "Reporting",
            dependencies: [
                "CCrypto", "CPages", "CRelease", "ClientModels", "Importing", "Partners", "Watching", "Enforcing",
                "Planning",
                "Inferring", "JobReports", "Running", "Steps", "JobState", "Jobs", "SchemaChange", "Checking",
                "ServerSchema", "Proving", "Concurrency", "BSON", .rainbow,
            ]),
        .target(
            name: "Files", dependencies: ["Processes", "ServerSchema", "BSON", .subprocess, .system]),
        .target(
            name: "Check",
            dependencies: [
                "Files", "Reporting", "Inferring", "Proving", "Partners", "JobState", "Jobs", "Scanning",
                "SchemaChange", "Checking", "LocatedYAML", "ServerSchema", "Privileges", "Mongo", "Concurrency", "BSON",
                .system,
            ]),
        .executableTarget(
            name: "ShipshapeCLI",
            dependencies: [
                "Proving", "Check", "Files", "Reporting", "ClientModels", "Importing", "Partners", "Watching",
                "Enforcing",
                "Planning", "Inferring",
                "Backfill", "JobReports", "Running", "Steps", "JobState", "Jobs", "Scanning", "SchemaChange",
                "Checking", "LocatedYAML", "ServerSchema", "Privileges", "Mongo", "Processes", "Concurrency", "BSON",
                .argumentParser, .logging, .subprocess, .system,
            ]),

        .executableTarget(
            name: "shipshape-bench",
            dependencies: [
                "Reporting", "Planning", "Scanning", "SchemaChange", "Checking", "ServerSchema", "BSON", "DemoData",
                "DumpWriter", .argumentParser, .system,
            ], path: "Benchmarks/Micro"),
        .target(name: "DemoData", dependencies: ["BSON"], path: "Tests/DemoData"),
        .executableTarget(
            name: "demo-data", dependencies: ["DemoData", "Mongo", "BSON", .argumentParser, .system],
            path: "Tests/DemoLoader"),
        .target(
            name: "Conformance", dependencies: ["Proving", "Checking", "ServerSchema", "BSON", .system],
            path: "Tests/Conformance", exclude: ["Fixtures"]),
        .target(
            name: "ConformanceOracle", dependencies: ["Proving", "Mongo", "BSON"], path: "Tests/ConformanceOracle"),
        .target(name: "DumpWriter", dependencies: ["CZlib", "BSON"], path: "Tests/DumpWriter"),
        .target(
            name: "TestSupport",
            dependencies: ["Checking", "ServerSchema", "Mongo", "Concurrency", "BSON", .subprocess, .system],
            path: "Tests/Support"),
        .testTarget(name: "PatternsTests", dependencies: ["Patterns"]),
        .testTarget(name: "BSONTests", dependencies: ["BSON", "DumpWriter", .system]),
        .testTarget(
            name: "ServerSchemaTests", dependencies: ["ServerSchema", "BSON", .system], exclude: ["Fixtures"]),
        .testTarget(
            name: "ClientModelsTests", dependencies: ["ClientModels", "ServerSchema", "BSON", .subprocess, .system],
            exclude: ["Fixtures"]),
        .testTarget(
            name: "ImportingTests", dependencies: ["Importing", "ServerSchema", "BSON"], exclude: ["Fixtures"]),
        .testTarget(name: "SchemaChangeTests", dependencies: ["SchemaChange", "ServerSchema", "BSON"]),
        .testTarget(
            name: "CheckingTests",
            dependencies: ["Checking", "Conformance", "Proving", "SchemaChange", "ServerSchema", "BSON"],
            exclude: ["Engines/Tables"]),
        .testTarget(
            name: "ScanningTests", dependencies: ["Scanning", "Checking", "ServerSchema", "BSON", "DemoData", .system]),
        .testTarget(name: "InferringTests", dependencies: ["Inferring", "Checking", "ServerSchema", "BSON"]),
        .testTarget(name: "PrivilegesTests", dependencies: ["Privileges", "Mongo", "BSON"]),
        .testTarget(name: "ConcurrencyTests", dependencies: ["Concurrency"]),
        .testTarget(name: "MongoTests", dependencies: ["Mongo", "Concurrency", "BSON", "TestSupport"]),
        .target(
            name: "JobsSupport", dependencies: ["Jobs", "LocatedYAML", "Checking", "ServerSchema", "BSON", .yams],
            path: "Tests/JobsSupport"),
        .testTarget(
            name: "JobsTests",
            dependencies: [
                "JobsSupport", "Jobs", "LocatedYAML", "Checking", "SchemaChange", "ServerSchema", "Concurrency", "BSON",
            ]),
        .testTarget(name: "EvaluatingTests", dependencies: ["Evaluating", "Jobs", "BSON"]),
        .testTarget(name: "JobStateTests", dependencies: ["JobState", "Jobs", "Concurrency", "BSON"]),
        .testTarget(
            name: "RunningTests", dependencies: ["Running", "JobState", "Jobs", "Checking", "Concurrency", "BSON"]),
        .testTarget(
            name: "StepsTests",
            dependencies: [
                "JobsSupport", "Steps", "JobState", "Jobs", "LocatedYAML", "SchemaChange", "ServerSchema", "BSON",
            ]),
        .testTarget(
            name: "BackfillTests",
            dependencies: [
                "Backfill", "JobReports", "Running", "Steps", "JobState", "Jobs", "ServerSchema", "Mongo",
                "Concurrency", "BSON", "DemoData",
            ]),
        .testTarget(
            name: "PartnersTests",
            dependencies: [
                "JobsSupport", "Partners", "Following", "Jobs", "LocatedYAML", "Checking", "BSON",
            ]),
        .testTarget(
            name: "PlanningTests",
            dependencies: [
                "JobsSupport", "Planning", "Partners", "Reporting", "JobState", "Jobs", "SchemaChange", "Checking",
                "ServerSchema", "BSON",
            ], exclude: ["Fixtures"]),
        .testTarget(
            name: "ReportingTests",
            dependencies: [
                "Reporting", "Checking", "SchemaChange", "ServerSchema", "JobReports", "Running", "Steps", "JobState",
                "Jobs", "Concurrency", "BSON",
            ]),
        .target(name: "AllocationCounter", path: "Tests/AllocationCounter"),
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "AllocationCounter", "ShipshapeCLI", "Check", "Files", "Importing", "Planning", "Steps", "Jobs",
                "Reporting", "Scanning", "SchemaChange", "Checking", "LocatedYAML", "ServerSchema", "Patterns", "Mongo",
                "BSON", "DumpWriter", "Conformance", "Proving",
            ], path: "Tests/Fuzz"),
        .testTarget(
            name: "Integration",
            dependencies: [
                "ShipshapeCLI", "Check", "Files", "Reporting", "Enforcing", "Backfill", "Running", "Steps",
                "Evaluating", "JobState",
                "Jobs", "Scanning", "Checking", "ServerSchema", "Mongo", "Concurrency", "BSON", "TestSupport",
                "DemoData", "DumpWriter", "Proving", "Conformance", "ConformanceOracle", .subprocess, .system, .yams,
            ], exclude: ["Documentation/Fixtures", "Prisma/Fixtures", "Reports/Fixtures"]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .strictMemorySafety(), .treatAllWarnings(as: .error), .enableExperimentalFeature("Lifetimes"),
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
    // `scripts/test` builds for release, because the tests start the program thousands of times. Optimizing the tests
    // themselves would take ten minutes.
    if target.type == .test {
        let quickBuild = ["-Onone", "-no-whole-module-optimization", "-enable-batch-mode"]
        target.swiftSettings?.append(.unsafeFlags(quickBuild, .when(configuration: .release)))
    } else if !isOptimized(target.name) {
        target.swiftSettings?.append(.unsafeFlags(["-Onone"], .when(configuration: .release)))
    }
}

// A build with sanitizers takes long, because it compiles every object file again. It therefore sets
// `SHIPSHAPE_TARGETS`, and only the named targets and their dependencies are built.
if let wanted = Context.environment["SHIPSHAPE_TARGETS"]?.split(whereSeparator: \.isWhitespace) {
    var needed = Set<String>()
    var open = wanted.map(String.init)
    while let name = open.popLast() {
        guard needed.insert(name).inserted else { continue }
        for dependency in package.targets.first(where: { $0.name == name })?.dependencies ?? [] {
            if case .byNameItem(let name, _) = dependency { open.append(name) }
        }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products.removeAll { product in
        let targets = (product as? Product.Executable)?.targets ?? (product as? Product.Library)?.targets ?? []
        return !needed.isSuperset(of: targets)
    }
}
