import Executing
import Wire

// Parameters or received values that are not what they should be.

extension Template.UnknownName: CodedFailure {
    package func describe(in failure: inout WireOperationFailure) { failure.code = .parameters }
}

extension JSONScanner.Malformed: CodedFailure {
    package func describe(in failure: inout WireOperationFailure) { failure.code = .parameters }
}
