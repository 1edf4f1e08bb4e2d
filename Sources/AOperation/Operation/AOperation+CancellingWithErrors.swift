extension AOperation {
    /// Cancels the operation for a reason: see ``cancelWithErrors(_:)``.
    public final func cancelWithError(_ error: AOperationError) { cancelWithErrors([error]) }

    /// Stops the operation as ``cancel()`` does, which is called, and those who listen are told of a cancellation; but it fails, with
    /// these errors, whatever its body reports. It is not tried again. What delivers to it goes on.
    ///
    /// Does nothing once the outcome is decided. An operation that runs on a cluster is cancelled there, without a reason.
    ///
    /// - Parameter errors: the first leads. Without any, it is cancelled.
    public final func cancelWithErrors(_ errors: [AOperationError]) {
        guard !errors.isEmpty else { return cancel() }
        let name = publisherName
        let ending = Ending.failure(errors.map { $0.published(by: name) })
        let stop = core.withLock { core in
            let stop = core.stop(ending)
            if case .decide = stop { core.holdEnd() }
            return stop
        }
        if case .decide = stop {
            Debugger.event(.cancelled, of: self)
            tellCancel()
        }
        stopBody(stop, ending)
    }
}
