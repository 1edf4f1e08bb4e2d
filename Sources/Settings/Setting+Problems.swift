import Wire

/// What is wrong with values. Only their text is judged, so that every command can judge all of them: nothing is looked for on the host.
extension Setting {
    /// Everything that is wrong with what was said of it.
    public func problems(_ said: Settings.Value) -> [SettingProblem] {
        func problem(_ value: String?, _ text: String, _ remedy: String) -> SettingProblem {
            SettingProblem(said.origin, self, value: value, text, remedy: remedy)
        }
        guard form.isList || said.texts.count == 1 else { return [problem(nil, "is a list", "it has one value")] }
        var seen: Set<String> = []
        return said.texts.compactMap { text in
            if text.isEmpty { return problem(text, "is empty", "leave it out, or give it a value") }
            if let remedy = remedy(for: text) { return problem(text, "is `\(text)`", remedy) }
            if let name = name(in: text), !seen.insert(name).inserted { return problem(text, "names `\(name)` twice", "give each once") }
            return nil
        }
    }

    /// Of what flags say; empty texts: they say nothing.
    public func problems(ofFlag texts: [String]) -> [SettingProblem] {
        texts.isEmpty ? [] : problems(Settings.Value(texts: texts, origin: .flag(flag)))
    }

    /// What to write instead of a value; nil: it can be used.
    private func remedy(for text: String) -> String? {
        switch form {
        case .path: return nil
        case .endpoint, .endpoints:
            do throws(EndpointError) {
                // What a setting names is for another process.
                return try Endpoint(text).isWithinProcess ? "only its own process reaches it; write tcp://HOST:PORT or ipc:///PATH" : nil
            } catch { return error.remedy }
        case .httpAddress:
            do throws(HTTPAddressError) {
                if text != "off" { _ = try HTTPAddress(text) }
                return nil
            } catch { return "\(error.remedy), or off" }
        case .labels: return text.utf8.count <= Limits.keyBytes ? nil : "a label has from 1 to \(Limits.keyBytes) bytes"
        case .resources:
            do throws(ResourceAmount.Refusal) {
                _ = try ResourceAmount(text)
                return nil
            } catch { return error.remedy }
        case .variables: return text.contains("=") ? "give the name of a variable, without its value" : nil
        case .number(let range):
            if let number = Int64(text), range.contains(number) { return nil }
            return "it must be a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .duration: return Self.isDuration(text) ? nil : "write a duration as 30s, 1m30s or 500ms"
        case .retention: return Self.isRetention(text) ? nil : "write it as 7d, 12h or 1h30m, at least 1m, or forever"
        case .retentionOrOff:
            return Self.isRetention(text) || text == "off" ? nil : "write it as 30d, 12h or 1h30m, at least 1m, or forever, or off"
        case .choice(let words):
            return words.contains(self == .logLevel ? text.lowercased() : text) ? nil : "it must be one of \(words.joined(separator: ", "))"
        }
    }

    /// What a list names once at most; nil: any number of times.
    private func name(in text: String) -> String? {
        switch form {
        case .endpoints:
            // Port 0 is another one each time.
            guard let endpoint = try? Endpoint(text), endpoint.port != 0 else { return nil }
            return endpoint.description
        case .resources: return try? ResourceAmount(text).name
        case .path, .endpoint, .httpAddress, .labels, .variables, .number, .duration, .retention, .retentionOrOff, .choice:
            return nil
        }
    }

    /// Thirty thousand years: so much all who read durations can take.
    private static let durationMillisecondsMax = 1e15

    private static func isRetention(_ text: String) -> Bool {
        // `5ms` does not begin with minutes.
        text == "forever" || text.prefixMatch(of: /0*[1-9][0-9]*(m(?!s)|h|d)/) != nil && isDuration(text)
    }

    private static func isDuration(_ text: String) -> Bool {
        guard text.wholeMatch(of: /([0-9]{1,9}(ms|s|m|h|d))+/) != nil else { return false }
        let units: [Substring: Double] = ["ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
        let sum = text.matches(of: /([0-9]+)(ms|s|m|h|d)/).reduce(0.0) { $0 + (Double($1.1) ?? .infinity) * (units[$1.2] ?? .infinity) }
        return sum < durationMillisecondsMax
    }
}
