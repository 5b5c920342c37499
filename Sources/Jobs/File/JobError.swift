package import LocatedYAML

/// What is wrong with a job file, where, and how to mend it.
package typealias JobError = LocatedError
