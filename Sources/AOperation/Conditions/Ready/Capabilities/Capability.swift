/// Something that an operation may need permission for: a device, an account, a licence, a quota.
///
/// The value says what is needed; a capability with degrees (read, write) has the needed one as a property.
///
/// ```swift
/// struct Camera: Capability {
///     enum Status { case undecided, denied, allowed }
///
///     var isAvailable: Bool { FileManager.default.fileExists(atPath: "/dev/video0") }
///
///     func getAuthorizationStatus(_ completion: @escaping @Sendable (Status) -> Void) {
///         completion(Consent.stored)
///     }
///     func isSufficient(_ status: Status) -> Bool { status == .allowed }
///     func requestAuthorization(_ completion: @escaping @Sendable () -> Void) {
///         Consent.ask { completion() }
///     }
/// }
///
/// record.conditions(AuthorizedFor(Camera()))
/// ```
public protocol Capability: Sendable {
    /// How far its use is authorized.
    associatedtype Status: Sendable

    /// The name of the capability in errors; the unqualified name of its type unless it is overridden.
    static var name: String { get }

    /// Whether the capability exists here at all; true by default. Nobody is asked for what does not exist.
    var isAvailable: Bool { get }

    /// Finds out how far its use is authorized now, without asking anybody for permission. Calls `completion` once,
    /// now or later, on any thread.
    func getAuthorizationStatus(_ completion: @escaping @Sendable (Status) -> Void)

    /// Whether `status` allows what is needed.
    func isSufficient(_ status: Status) -> Bool

    /// Asks for permission. Calls `completion` once, now or later, on any thread, when an answer was given or refused:
    /// which one is seen from the status.
    func requestAuthorization(_ completion: @escaping @Sendable () -> Void)
}

extension Capability {
    public static var name: String { String(describing: Self.self) }

    public var isAvailable: Bool { true }
}
