/// The version of `wire.proto` this build speaks.
///
/// Peers of another `major` are refused by name. A newer `minor` only adds fields and messages, which older peers skip;
/// what must not be skipped is announced in `capabilities`.
public enum ProtocolVersion {
    public static let major: UInt32 = 1
    public static let minor: UInt32 = 0
    public static let capabilities = [hosting, links, outputReceipts]
    /// The coordinator knows the processes of submitters, and what they host.
    public static let hosting = "hosting"
    /// The executor begins an operation that is linked to another one when that has succeeded.
    public static let links = "links"
    /// The coordinator acknowledges output, which is kept until then.
    public static let outputReceipts = "output-receipts"
}

/// The version of the product, as `aop --version` shows it.
public enum ProductVersion {
    public static let current = "0.1.0"
}
