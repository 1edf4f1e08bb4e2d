extension AOperation {
    /// The outcome with whatever value it has; nil while it is open.
    final var anyOutcome: OperationOutcome<Any>? {
        switch ending {
        case .success: .success(anyValue() ?? ())
        case .failure(let errors): .failure(errors)
        case .cancelled: .cancelled
        case nil: nil
        }
    }
}
