/// Who logs in, and who listens.
final class Credentials: @unchecked Sendable {
    let heard = Heard()
}
