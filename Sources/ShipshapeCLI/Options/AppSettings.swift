internal import Checking

/// The settings of the app that affect which documents sync, and that its export does not contain.
enum AppSettings {
    static var assumptions: CheckOptions {
        let settings = Settings.current
        var options = CheckOptions()
        options.allowsMixedCollections = settings[Known.mixedCollections]
        options.refusesNulls = settings[Known.nullTypes] == false
        options.countsAsymmetric = settings[Known.includeAsymmetric]
        return options
    }

    static var isVersioned: Bool { Settings.current[Known.schemaVersioning] }
}
