import AOperation
import Foundation
import Testing

@testable import Cluster

/// What came to a graph while that ran.
@Suite struct AddedOperationTests {
    /// Its id has the number of the addition behind the name that it was given.
    @Test(arguments: [
        ("n13+1", "n13"), ("Emit+2.1", "Emit"), ("a+b+3", "a+b"), ("+1", "+1"), ("under an id", "under an id"), ("a+b", "a+b"),
    ]) func itHasTheNameThatItWasGiven(id: String, name: String) {
        let added = AddedOperation(path: "group/\(id)", id: id, operationType: "Emit")
        #expect(added.name == name)
        #expect(added.path == "group/\(id)" && added.operationType == "Emit")
    }
}
