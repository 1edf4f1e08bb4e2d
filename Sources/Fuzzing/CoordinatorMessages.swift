import Cluster
import Executing
import Wire
import Worker

/// Messages that a coordinator sends: at a session, at an executor, and at a client.
enum CoordinatorMessages {
    /// Each message has a byte before it: so many hundred milliseconds pass before it comes.
    static func run(_ bytes: [UInt8]) {
        var session = Wire.PeerSession()
        var executor = ExecutorState(slots: 2, lineMax: 2)
        var client = ClientIntake()
        let assignments: AssignmentIntake
        do { assignments = try AssignmentIntake() } catch { preconditionFailure("the ready operations cannot be registered: \(error)") }
        var now: Int64 = 1_000
        _ = session.start(at: now)
        _ = session.connected(at: now)
        _ = session.helloSent(at: now)
        for record in Records.split(bytes) {
            guard let wait = record.first else { continue }
            let message: WireCoordinatorMessage
            do throws(WireError) { message = try WireCoordinatorMessage(frames: [Buffer(Array(record.dropFirst()))]) } catch { continue }
            now += Int64(wait) * 100
            _ = session.tick(at: now)
            _ = session.receive(message, at: now)
            _ = session.heartbeatSent(at: now)
            client.receive(message)
            var actions = executor.tick(now: now, at: now)
            switch message.body {
            case .welcome(let welcome): actions += executor.attached(drop: welcome.drop.map { UnitKey($0) }, now: now, at: now)
            case .dispatch(let dispatch):
                for assignment in dispatch.assignments { assignments.read(assignment) }
                actions += executor.dispatched(dispatch.assignments, now: now, at: now)
            case .stop(let stop): actions += executor.stopOrdered(stop.units, now: now, at: now)
            case .acknowledgement(let list): actions += executor.acknowledged(list.units.map { UnitKey($0) }, now: now, at: now)
            default: break
            }
            for case .start(let key, _) in actions where wait & 1 == 1 { actions += executor.ended(key, .cancelled, now: now, at: now) }
            _ = executor.held
        }
    }

    static var seeds: [[UInt8]] { Sample.shared.coordinatorMessages }
}
