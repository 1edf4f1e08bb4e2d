import Wire

/// What tells who may connect: key files, authorised keys, join tokens, and addresses.
enum KeyFiles {
    /// The first byte says what it is.
    static func run(_ bytes: [UInt8]) {
        guard let kind = bytes.first else { return }
        let text = String(decoding: bytes.dropFirst(), as: UTF8.self)
        switch kind % 4 {
        case 0: readAuthorized(text)
        case 1: do { _ = try KeyFile(text: text, path: "key").pair.publicKey } catch { _ = "\(error)" }
        case 2: do { _ = try JoinToken(text).keyFile } catch { _ = "\(error)" }
        default: do { _ = try Endpoint(text).isLoopback } catch { _ = "\(error)" }
        }
    }

    /// What is read and written again is read as the same.
    private static func readAuthorized(_ text: String) {
        let keys: AuthorizedKeys
        do { keys = try AuthorizedKeys(text: text, path: "authorized") } catch { return _ = "\(error)" }
        do {
            guard try AuthorizedKeys(text: keys.text, path: "authorized") == keys else {
                FuzzTarget.fail("authorised keys are read as others than were written")
            }
        } catch { FuzzTarget.fail("authorised keys that were written cannot be read: \(error)") }
    }

    static var seeds: [[UInt8]] {
        let key = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
        let other = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
        return [
            "\0# name key roles\nadmin \(other) admin\n\nci \(key) submit,observe operations=shell,noop labels=a\n",
            "\0enrol host \(key) work labels=fast until=2027-11-23T15:00:00Z for=\(other)\n",
            "\u{1}# secret\nname worker\npublic-key \(key)\nsecret-key D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs\nserver-key \(other)\n",
            "\u{2}aopj1.\(String(repeating: "QUJD", count: 40))", "\u{2}aopj1.", "\u{3}tcp://[::1]:7600", "\u{3}ipc:///run/aop/socket",
            "\u{3}tcp://host.example:65535", "\u{3}inproc://x",
        ].map { Array($0.utf8) }
    }

    static let words = [
        "admin", "work", "submit", "observe", "enrol ", "operations=", "labels=", "until=", "for=", "2027-11-23T15:00:00Z",
        "9999-99-99T99:99:99Z",
        "name ", "public-key ", "secret-key ", "server-key ", "token ", "aopj1.", "aopj2.", "tcp://", "ipc://", "inproc://", ":65536",
        "[::]", "%eth0",
        "\n", "\r\n", "#", ",", " ", "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7",
    ]
}
