/// Waits until something holds that nobody tells of, and leaves the processor to others meanwhile; gives up with the
/// test.
func until(_ condition: () -> Bool) async {
    while !condition(), !Task.isCancelled { try? await Task.sleep(for: .microseconds(200)) }
}
