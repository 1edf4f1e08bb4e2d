/// Times as RFC 3339 writes them: `2026-11-21T22:00:00Z`, `2026-11-21T22:00:00.5+01:00`. A leap second is the second
/// after it.
enum TimeStamp {
    static let example = "a time such as `2026-11-21T22:00:00Z`"

    /// Milliseconds since 1970, finer fractions cut off; or what is wrong with the text.
    static func read(_ text: String) -> Result<Int64, Complaint> {
        var rest = Substring(text).utf8
        guard let year = take(4, of: &rest), skip("-", of: &rest), let month = take(2, of: &rest), skip("-", of: &rest),
            let day = take(2, of: &rest), skip("Tt ", of: &rest),
            let hour = take(2, of: &rest), skip(":", of: &rest), let minute = take(2, of: &rest), skip(":", of: &rest),
            let second = take(2, of: &rest), let milliseconds = takeFraction(of: &rest), let offset = takeOffset(of: &rest), rest.isEmpty
        else {
            return .failure(
                Complaint("bad time \(quoted(text)); write it as `2026-11-21T22:00:00Z` or with an offset, `…T23:00:00+01:00`"))
        }
        guard (1...12).contains(month), (1...days(in: month, of: year)).contains(day), hour < 24, minute < 60, second <= 60 else {
            return .failure(Complaint("\(quoted(text)) is no time there is"))
        }
        let seconds = daysSince1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset * 60
        guard seconds > 0 else { return .failure(Complaint("\(quoted(text)) is before 1970")) }
        return .success(seconds * 1_000 + milliseconds)
    }

    private static func take(_ count: Int, of rest: inout Substring.UTF8View) -> Int64? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) else { return nil }
        rest = rest.dropFirst(count)
        return digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }

    private static func skip(_ characters: String, of rest: inout Substring.UTF8View) -> Bool {
        guard let first = rest.first, characters.utf8.contains(first) else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Milliseconds; 0 when there is no fraction.
    private static func takeFraction(of rest: inout Substring.UTF8View) -> Int64? {
        guard skip(".", of: &rest) else { return 0 }
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        rest = rest.dropFirst(digits.count)
        guard !digits.isEmpty else { return nil }
        return (0..<3).reduce(0) { value, place in
            let digit = digits.dropFirst(place).first ?? UInt8(ascii: "0")
            return value * 10 + Int64(digit - UInt8(ascii: "0"))
        }
    }

    /// Minutes east of UTC.
    private static func takeOffset(of rest: inout Substring.UTF8View) -> Int64? {
        if skip("Zz", of: &rest) { return 0 }
        let isEast = rest.first == UInt8(ascii: "+")
        guard skip("+-", of: &rest), let hours = take(2, of: &rest), skip(":", of: &rest), let minutes = take(2, of: &rest),
            hours < 24, minutes < 60
        else { return nil }
        return (isEast ? 1 : -1) * (hours * 60 + minutes)
    }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `days_from_civil`, for years from 0.
    private static func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
