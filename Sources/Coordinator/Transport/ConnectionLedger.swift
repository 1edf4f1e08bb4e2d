/// Connections that were accepted, by the descriptors that the socket's monitor names: where they come from, and whether anything came of them.
///
/// A descriptor is used again when its connection has ended. What was read of it is certain only if the connection was still there
/// afterwards: its end is told before its descriptor is closed.
///
/// libzmq says nothing of a connection that it ends because it speaks no ZMTP, or a version without keys. That is found by what it says
/// of the others; of handshakes that succeed and of keys that are not let in it does not say whose they were, so these are counted.
struct ConnectionLedger {
    private enum Address {
        case unknown
        /// Read a moment ago; the connection may have ended before.
        case read(String)
        /// It was still there after that.
        case certain(String)
    }

    private struct Entry {
        var address: Address
        var hasSpoken = false
    }

    struct End: Equatable {
        /// nil: not known.
        let address: String?
        /// It ended without a handshake, and nobody has told why.
        let isUnexplained: Bool
    }

    private var entries: [Int32: Entry] = [:]
    /// Accepted in this reading of the monitor.
    private var fresh: [Int32] = []
    /// Open connections that have shaken hands, and those of them that were heard.
    private var welcomed = 0
    private var heard = 0
    /// Open connections whose keys were not let in.
    private var denied = 0

    /// A connection was accepted, and this is what is read of its descriptor now.
    mutating func accepted(_ descriptor: Int32, _ address: String?) {
        entries[descriptor] = Entry(address: address.map { .read($0) } ?? .unknown)
        fresh.append(descriptor)
    }

    /// All that was told until now has been looked at.
    mutating func settle() {
        for descriptor in fresh {
            if case .read(let address)? = entries[descriptor]?.address { entries[descriptor]?.address = .certain(address) }
        }
        fresh.removeAll(keepingCapacity: true)
    }

    /// Some connection has shaken hands.
    mutating func succeeded() { welcomed += 1 }

    /// Some connection's key was not let in.
    mutating func refused() { denied += 1 }

    /// A message came from it.
    mutating func spoke(_ descriptor: Int32?) {
        guard let descriptor, entries[descriptor]?.hasSpoken == false else { return }
        entries[descriptor]?.hasSpoken = true
        heard += 1
    }

    /// - Parameter isExplained: that its handshake has failed was told just before.
    mutating func ended(_ descriptor: Int32, isExplained: Bool) -> End {
        guard let entry = entries.removeValue(forKey: descriptor) else { return End(address: nil, isUnexplained: false) }
        // One that was counted may end as one that is explained: nobody counts for more than is open.
        defer {
            denied = min(denied, entries.count - heard)
            welcomed = min(welcomed, entries.count)
        }
        let address: String? = if case .certain(let text) = entry.address { text } else { nil }
        if entry.hasSpoken {
            (heard, welcomed) = (heard - 1, max(0, welcomed - 1))
        } else if isExplained {
            return End(address: address, isUnexplained: false)
        } else if denied > 0 {
            denied -= 1
        } else if welcomed > heard {
            welcomed -= 1
        } else {
            return End(address: address, isUnexplained: true)
        }
        return End(address: address, isUnexplained: false)
    }
}
