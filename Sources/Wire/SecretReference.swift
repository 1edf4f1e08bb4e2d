/// How parameters name a secret of the worker's operator: `{"$aop.secret": NAME}` in the place of a text.
///
/// Secrets never travel: a worker puts them in where it runs the operation.
public enum SecretReference {
    /// The only member of the object that stands for a secret.
    public static let member = "$aop.secret"

    /// The largest name, in bytes.
    public static let nameBytes = 128

    /// Why a text cannot name a secret; nil: it can.
    public static func problem(withName name: String) -> String? {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        guard !name.isEmpty, isPlain, !name.hasPrefix(".") else {
            return "use letters, digits, `_`, `-` and `.`, not `.` first"
        }
        return name.utf8.count > nameBytes ? "it must have at most \(nameBytes) bytes" : nil
    }
}
