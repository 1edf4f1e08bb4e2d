/// A number with a unit, read exactly: no floating point, nothing rounded.
struct Quantity {
    /// Digits before and after the point together, and how many of them are after it: 1.5 is 15 and 1.
    private var digits: Int64
    private var decimals: Int

    /// Takes digits, and a fraction if there is one, off the front. nil: there are none, or more than fifteen.
    static func take(from rest: inout Substring.UTF8View) -> Quantity? {
        var quantity = Quantity(digits: 0, decimals: 0)
        var count = 0
        var seenPoint = false
        while let byte = rest.first {
            if byte == UInt8(ascii: "."), !seenPoint, count > 0 {
                seenPoint = true
            } else if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
                quantity.digits = quantity.digits * 10 + Int64(byte - UInt8(ascii: "0"))
                quantity.decimals += seenPoint ? 1 : 0
                count += 1
            } else {
                break
            }
            if count > 15 { return nil }
            rest.removeFirst()
        }
        guard count > 0, !seenPoint || quantity.decimals > 0 else { return nil }
        return quantity
    }

    var isWhole: Bool { decimals == 0 }

    /// In the smallest unit, where one of this quantity is `unit` of them. nil: not a whole number, or beyond 64 bits.
    func times(_ unit: Int64) -> Int64? {
        var divisor: Int64 = 1
        for _ in 0..<decimals { divisor *= 10 }
        let (product, overflows) = digits.multipliedReportingOverflow(by: unit)
        return overflows || product % divisor != 0 ? nil : product / divisor
    }

    /// Takes letters off the front.
    static func takeUnit(from rest: inout Substring.UTF8View) -> String {
        let unit = rest.prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }
        rest = rest.dropFirst(unit.count)
        return String(decoding: unit, as: UTF8.self)
    }
}

/// `90s`, `1h30m`, `500ms`, `1.5s`: units from large to small, each once, a fraction only in the last.
enum DurationText {
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
    ]

    /// Milliseconds, or what is wrong with the text.
    static func read(_ text: String) -> Result<Int64, Complaint> {
        let bad = Complaint("bad duration \(quoted(text)); write it as `90s`, `1h30m`, `500ms` or `1.5s`")
        if JSONNumber.isOne(text) { return .failure(Complaint("\(quoted(text)) has no unit; write `\(text)s` for seconds")) }
        var rest = Substring(text).utf8
        var total: Int64 = 0
        var next = 0
        var isLast = false
        repeat {
            guard !isLast, let quantity = Quantity.take(from: &rest) else { return .failure(bad) }
            let name = Quantity.takeUnit(from: &rest)
            guard let unit = units.firstIndex(where: { $0.name == name }), unit >= next else { return .failure(bad) }
            guard let milliseconds = quantity.times(units[unit].milliseconds) else {
                return .failure(quantity.isWhole ? tooLong(text) : Complaint("\(quoted(text)) is finer than a millisecond"))
            }
            total = total.addingReportingOverflow(milliseconds).partialValue
            if total < 0 || milliseconds > FileLimits.durationMilliseconds { return .failure(tooLong(text)) }
            isLast = !quantity.isWhole
            next = unit + 1
        } while !rest.isEmpty
        return total > FileLimits.durationMilliseconds ? .failure(tooLong(text)) : .success(total)
    }

    private static func tooLong(_ text: String) -> Complaint {
        Complaint("\(quoted(text)) is longer than \(FileLimits.durationMilliseconds / 86_400_000) days, the longest possible")
    }
}

/// `64MiB`, `2GiB`, `10MB`, `1000`: bytes.
enum SizeText {
    static let units: [String: Int64] = [
        "": 1, "B": 1,
        "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
        "kB": 1000, "KB": 1000, "MB": 1_000_000, "GB": 1_000_000_000, "TB": 1_000_000_000_000,
    ]

    /// Bytes, or what is wrong with the text.
    static func read(_ text: String) -> Result<Int64, Complaint> {
        let bad = Complaint("bad size \(quoted(text)); write it as `64MiB`, `2GiB` or `1000` (bytes)")
        var rest = Substring(text).utf8
        guard let quantity = Quantity.take(from: &rest), let unit = units[Quantity.takeUnit(from: &rest)], rest.isEmpty else {
            return .failure(bad)
        }
        guard let bytes = quantity.times(unit) else {
            return .failure(quantity.isWhole ? tooLarge(text) : Complaint("\(quoted(text)) is not a whole number of bytes"))
        }
        if bytes == 0 { return .failure(Complaint("must be at least 1 byte; for no output write `output: none`")) }
        return bytes > FileLimits.outputBytes ? .failure(tooLarge(text)) : .success(bytes)
    }

    private static func tooLarge(_ text: String) -> Complaint {
        Complaint("\(quoted(text)) is larger than 1 PiB, the largest possible")
    }
}

/// `2`, or `2GiB` where sizes are meant: how much of a resource.
enum AmountText {
    static func read(_ text: String, needsUnit: Bool, allowsUnit: Bool) -> Result<Int64, Complaint> {
        var rest = Substring(text).utf8
        guard let quantity = Quantity.take(from: &rest) else { return .failure(Complaint("found \(quoted(text))")) }
        let name = Quantity.takeUnit(from: &rest)
        guard let unit = SizeText.units[name], rest.isEmpty, allowsUnit || name.isEmpty else {
            return .failure(Complaint("found \(quoted(text))"))
        }
        if needsUnit, name.isEmpty, text != "0" {
            return .failure(Complaint("\(quoted(text)) has no unit; write `\(text)MiB` or `\(text)GiB`"))
        }
        guard let amount = quantity.times(unit) else { return .failure(Complaint("\(quoted(text)) is no whole number")) }
        return .success(amount)
    }
}

/// What is wrong with a value, without its place.
struct Complaint: Error, Hashable {
    var message: String

    init(_ message: String) {
        self.message = message
    }
}
