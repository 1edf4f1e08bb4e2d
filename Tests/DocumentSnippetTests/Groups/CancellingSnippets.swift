// Operations, Groups, "Cancelling", in Swift 5.

import AOperation
import Foundation
import Testing

// swift-format-ignore
private enum Document {
    // was: class LoginSessionTask: NSURLSessionTask { /* etc */ }
    class LoginSessionTask: URLSessionTask {
        var isDone = false  // +
        init(_ credentials: Credentials) { super.init() }  // +
        override func resume() { isDone = true }  // +
        override func cancel() { isDone = true }  // +
        override var state: URLSessionTask.State { isDone ? .completed : .suspended }  // +
    }

    class LoginOperation: GroupOperation {

        // was: class PersistLoginInfo: Operation { /* etc */ }
        class PersistLoginInfo: VoidOperation {
            let credentials: Credentials  // +
            init(_ credentials: Credentials) { self.credentials = credentials; super.init() }  // +
            override func execute() { credentials.heard("persisted"); finish() }  // +
        }

        let task: URLSessionTaskOperation

        init(credentials: Credentials, task: URLSessionTaskOperation) {
            self.task = task

            // Create the child operations
            let persist = PersistLoginInfo(credentials)

            // Do any configuration or setup
            persist.addDependency(task)

            // Call the super initializer with the operations
            // was: super.init(operations: [persist, login])
            // slip: the page's `login` is `task` here
            super.init(operations: [persist, task])

            // Configure any properties, such as name.
            name = "Login"

            // Add observers, conditions etc to the group
            addObserver(NetworkObserver())
            addCondition(MutualExclusive<LoginOperation>())
        }

        override func execute() {
            task.addObserver(CancelledObserver { [weak self] _ in
                self?.cancel()
            })
            super.execute()
        }
    }
}

@Suite("Operations: Groups, Cancelling", .timeLimit(.minutes(1)))
struct CancellingSnippets {
    @Test func cancellingTheInjectedChild_cancelsTheGroup() async {
        let credentials = Credentials()
        let task = URLSessionTaskOperation(task: Document.LoginSessionTask(credentials))
        let login = Document.LoginOperation(credentials: credentials, task: task)
        task.didStart { task.cancel() }
        let result = await login.result(on: AOperationQueue())
        #expect(result.error?.publishedError is AOperationError.IsCancelled)
        #expect(login.outcome?.isCancelled == true)
        #expect(credentials.heard.words == [])
    }

    @Test func withoutCancellation_theGroupSucceeds() async {
        let credentials = Credentials()
        let task = URLSessionTaskOperation(task: Document.LoginSessionTask(credentials))
        let login = Document.LoginOperation(credentials: credentials, task: task)
        let result = await login.result(on: AOperationQueue())
        #expect(result.error == nil)
        #expect(credentials.heard.words == ["persisted"])
    }
}
