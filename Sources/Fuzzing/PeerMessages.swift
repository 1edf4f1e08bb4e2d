import Coordinator
import Wire

/// Frames that peers send.
enum PeerMessages {
    /// An input is the first frame; an even first byte: of a connection that has not said hello.
    static func run(_ bytes: [UInt8]) {
        guard let kind = bytes.first else { return }
        let frame = Buffer(Array(bytes.dropFirst()))
        do throws(WireError) {
            let message = try WirePeerMessage(frames: [frame], limitBytes: kind & 1 == 0 ? Limits.helloBytes : Limits.messageBytes)
            CoordinatorIntake.translate(message)
        } catch { _ = "\(error)" }
    }

    static var seeds: [[UInt8]] { Sample.shared.peerMessages.map { [1] + $0 } }
}
