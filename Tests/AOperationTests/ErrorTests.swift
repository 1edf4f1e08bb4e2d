import Foundation
import Testing

@testable import AOperation

struct ErrorTests {
    @Test func L11_localizedDescription_isThePublishedErrorsText_alsoOfAnyError() {
        let error = AOperationError(Failed(text: "the disk is full"))
        #expect(error.localizedDescription == "the disk is full")
        #expect((error as any Error).localizedDescription == "the disk is full")
        let optional: String? = error.errorDescription
        #expect(optional == "the disk is full")
    }

    @Test func libraryErrors_nameTheOperation() {
        let operation = Value(1, name: "Fetch")
        #expect((AOperationError.isCancelled(operation) as any Error).localizedDescription == "The Operation Fetch is Cancelled")
        #expect(
            (AOperationError.receivedValueIsNil(in: operation) as any Error).localizedDescription
                == "The received value to operation Fetch is nil")
        #expect(AOperationError.isCancelled(operation).publisher == "Fetch")
    }

    @Test func D27_errorDescription_isTheOneThatLocalizedErrorAsksFor() {
        func description(of error: some LocalizedError) -> String? { error.errorDescription }
        #expect(description(of: AOperationError(Failed(text: "the disk is full"))) == "the disk is full")
        let cause: any LocalizedError = AOperationError(AOperationError.IsCancelled(operation: "Fetch"))
        #expect(cause.errorDescription == "The Operation Fetch is Cancelled")
    }

    @Test func L11_localizedDescription_isThePublishedErrorsText_whereverTheErrorComesBy() async {
        let operation = Failing<Int>("the disk is full")
        await operation.add(to: AOperationQueue()).ended()
        #expect(operation.publishedErrors.map { ($0 as any Error).localizedDescription } == ["the disk is full"])
        let result: Result<Int, any Error> = operation.result.map { $0.mapError { $0 } } ?? .success(0)
        #expect(result.error?.localizedDescription == "the disk is full")
        await #expect { try await Failing<Int>("thrown").value(on: AOperationQueue()) } throws: { error in
            error.localizedDescription == "thrown"
        }
    }

    @Test func wrappingAnAOperationError_doesNotNest() {
        let inner = AOperationError(Failed(text: "a"), state: .condition, publisher: "C")
        #expect(AOperationError(inner) == inner)
        #expect(AOperationError(inner as any Error).publishedError is Failed)
    }

    @Test func D27_equality_tellsTypesWithEqualTextApart() {
        struct Other: LocalizedError { var errorDescription: String? { "same" } }
        #expect(AOperationError(Failed(text: "same")) == AOperationError(Failed(text: "same")))
        #expect(AOperationError(Failed(text: "same")) != AOperationError(Other()))
        #expect(AOperationError(Failed(text: "same")) != AOperationError(Failed(text: "same"), state: .condition, publisher: nil))
    }

    @Test func name_isTheTypesUnlessItIsSet() {
        #expect(Step("x").name == "x")
        #expect(VoidOperation().name == "VoidOperation")
        #expect(VoidOperation.key == "VoidOperation")
    }
}
