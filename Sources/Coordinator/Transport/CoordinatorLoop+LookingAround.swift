/// What nobody tells of.
extension CoordinatorLoop {
    /// Looks now and then at what nobody tells of.
    ///
    /// - Throws: `DataDirectoryError`, `JournalError`.
    func lookAround() throws {
        guard now.boot - lookedAroundAt >= CoordinatorLimits.lookAroundMilliseconds else { return }
        lookedAroundAt = now.boot
        try files.check()
        lookAtLog()
        lookForDescriptors()
        lookForRoom()
        if let resident = ResidentMemory.bytes, freedMemory.isDue(resident: resident) { FreedMemory.giveBack() }
        if let hasRoom = journal.makeSnapshotIfDue() { noteSnapshotRoom(hasRoom) }
    }

    private func noteSnapshotRoom(_ hasRoom: Bool) {
        guard hasRoom == snapshotWaitsForRoom else { return }
        snapshotWaitsForRoom = !hasRoom
        if hasRoom {
            logger.notice("no snapshot of the journal waits for room any more")
        } else {
            logger.warning(
                "a snapshot of the journal is due, and the disk has no room for it: starts take longer, and what was forgotten stays on the disk, until there is; make room there (`aop journal prune`)"
            )
        }
    }

    /// libzmq would tell of each accept that fails, which it tries again and again.
    private func lookForDescriptors() {
        guard let shortage = OpenFiles.shortage() else { return }
        counters.note(
            .accepting, from: .unknown, "no file can be opened, large values wait, and no connection can be accepted: \(shortage)",
            now.boot, logger)
    }
}
