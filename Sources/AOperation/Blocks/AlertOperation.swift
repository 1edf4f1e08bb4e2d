import Foundation

/// Asks somebody, and ends when the answer is there.
///
/// ```swift
/// AlertOperation.presenter = { alert in console.ask(alert.title, alert.actions.map(\.title)) { alert.choose($0) } }
///
/// let alert = AlertOperation()
/// alert.title = "Delete the archive?"
/// alert.addAction("Delete", style: .destructive) { _ in archive.delete() }
/// alert.addAction("Keep", style: .cancel)
/// alert.add(to: queue)
/// ```
/// A process without a user registers no presenter: the alert is written to standard error (or to
/// `AOperation.Debugger.errorHandler`), no action is taken, and the operation succeeds. One alert is shown at a time.
///
/// Invariant behind `@unchecked Sendable`: `content` is only reached under its lock; `present` is constant.
public final class AlertOperation: VoidOperation, @unchecked Sendable {
    /// Shows an alert, and calls ``AlertOperation/choose(_:)`` with the answer, on any thread. If the alert is
    /// cancelled its answer is not needed any more.
    public typealias Presenter = @Sendable (_ alert: AlertOperation) -> Void

    /// What an action stands for.
    public enum ActionStyle: Sendable, Hashable {
        case `default`, cancel, destructive
    }

    /// One of the answers.
    public struct Action: Sendable {
        public let title: String
        public let style: ActionStyle
        fileprivate let handler: @Sendable (AlertOperation) -> Void
    }

    private struct Content {
        var title: String?
        var message: String?
        var actions: [Action] = []
        var isAnswered = false
    }

    private static let registered = Guarded<Presenter?>(nil)
    private let content = Guarded(Content())
    private let present: Presenter?

    /// Shows the alerts that have no presenter of their own; nil by default.
    public static var presenter: Presenter? {
        get { registered.withLock { $0 } }
        set { registered.set(\.self, to: newValue) }
    }

    /// - Parameter presenter: shows this alert; ``presenter`` does by default.
    public init(presenter: Presenter? = nil) {
        present = presenter
        super.init()
        addCondition(AlertPresentation())
    }

    public var title: String? {
        get { content.withLock { $0.title } }
        set { content.withLock { $0.title = newValue } }
    }

    public var message: String? {
        get { content.withLock { $0.message } }
        set { content.withLock { $0.message = newValue } }
    }

    /// The answers, in the order in which they were added.
    public var actions: [Action] { content.withLock { $0.actions } }

    /// Adds an answer. `handler` is called when it is chosen, before the operation ends.
    public func addAction(
        _ title: String, style: ActionStyle = .default, handler: @escaping @Sendable (AlertOperation) -> Void = { _ in }
    ) {
        content.withLock { $0.actions.append(Action(title: title, style: style, handler: handler)) }
    }

    /// The answer: calls the handler of the action and ends the operation. Only the first one counts; an index without
    /// an action dismisses the alert.
    public func choose(_ index: Int) {
        let chosen = content.withLock { content -> Action?? in
            guard !content.isAnswered else { return nil }
            content.isAnswered = true
            return .some(content.actions.indices.contains(index) ? content.actions[index] : nil)
        }
        guard let chosen else { return }
        chosen?.handler(self)
        finish()
    }

    public override func execute() {
        guard let present = present ?? Self.presenter else {
            Debugger.error("alert: " + [title, message].compactMap { $0 }.joined(separator: ": "))
            return finish()
        }
        present(self)
    }

    public override func cancel() {
        super.cancel()
        let isOpen = content.withLock { content in
            defer { content.isAnswered = true }
            return !content.isAnswered
        }
        if isOpen { endBody() }
    }
}
