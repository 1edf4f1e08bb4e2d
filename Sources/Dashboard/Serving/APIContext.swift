import Hummingbird

/// What is known of a request while it is answered.
struct APIContext: RequestContext {
    enum Access: Sendable {
        /// Has shown no token: may look.
        case visitor
        /// Has shown the token: may do all that the coordinator's user may.
        case owner
    }

    var coreContext: CoreRequestContextStorage
    var access = Access.visitor

    init(source: ApplicationRequestContextSource) { coreContext = .init(source: source) }
}
