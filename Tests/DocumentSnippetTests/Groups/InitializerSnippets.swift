// Operations, Groups, "The initializer", in Swift 5.
//
// translated, here and in the other files of this folder: `Operation` is VoidOperation, NSOperation is
// Foundation.Operation, NSURLSessionTask is URLSessionTask, ErrorType is AOperationError, `cancelled` is isCancelled.

import AOperation
import Foundation
import Testing

// swift-format-ignore
private enum Document {
    class LoginOperation: GroupOperation {

        // was: class PersistLoginInfo: Operation { /* etc */ }
        class PersistLoginInfo: VoidOperation {
            let credentials: Credentials  // +
            init(_ credentials: Credentials) { self.credentials = credentials; super.init() }  // +
            override func execute() { credentials.heard("persisted"); finish() }  // +
        }
        // was: class LoginSessionTask: NSURLSessionTask { /* etc */ }
        class LoginSessionTask: URLSessionTask {
            var isDone = false  // +
            init(_ credentials: Credentials) { super.init() }  // +
            override func resume() { isDone = true }  // +
            override func cancel() { isDone = true }  // +
            override var state: URLSessionTask.State { isDone ? .completed : .suspended }  // +
        }

        init(credentials: Credentials /* etc, inject known dependencies */) {

            // Create the child operations
            let persist = PersistLoginInfo(credentials)
            let login = URLSessionTaskOperation(task: LoginSessionTask(credentials))

            // Do any configuration or setup
            persist.addDependency(login)

            // Call the super initializer with the operations
            super.init(operations: [persist, login])

            // Configure any properties, such as name.
            name = "Login"

            // Add observers, conditions etc to the group
            addObserver(NetworkObserver())
            addCondition(MutualExclusive<LoginOperation>())
        }
    }
}

@Suite("Operations: Groups, The initializer", .timeLimit(.minutes(1)))
struct InitializerSnippets {
    @Test func children_runAsTheyWereConfigured() async throws {
        let credentials = Credentials()
        let login = Document.LoginOperation(credentials: credentials)
        let result = await login.result(on: AOperationQueue())
        #expect(result.error == nil)
        #expect(login.name == "Login")
        #expect(credentials.heard.words == ["persisted"])
        #expect(login.outcomes.count == 2)
    }

    /// "Remember that these can always be nullified by using `ComposedOperation`."
    @Test func composedOperation_isAGroupOfOne() async {
        let composed = ComposedOperation(operation: BlockOperation {})
        composed.condition { completion in completion(.failure(AOperationError(Refused()))) }
        let result = await composed.result(on: AOperationQueue())
        #expect(result.error?.publishedError as? Refused == Refused())
    }
}
