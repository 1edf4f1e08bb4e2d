import Foundation
import Wire

/// Whether keys are there that are needed, and are their user's alone.
struct KeyCheck {
    let choice: KeyChoice
    /// Of the coordinator that clients look for.
    let endpoint: Endpoint

    func findings() -> [Finding] {
        var findings = choice.folder.map(findings(inFolder:)) ?? []
        do throws(KeyError) {
            if let path = try choice.path(for: endpoint, names: KeyDirectory.clientFiles) {
                // A file in the folder has been looked at with the others.
                if choice.folder == nil { _ = try PeerKey(contentsOf: path) }
                findings.append(Finding(.keys, .ok, "clients use \(path) for \(endpoint)"))
            }
        } catch {
            findings.append(Finding(.keys, of: error))
        }
        return findings + cookie()
    }

    private func findings(inFolder path: String) -> [Finding] {
        guard access(path, F_OK) == 0 else {
            if case .directory = choice {
                return [
                    Finding(
                        .keys, .error, "there is no folder \(path), where keys are to be", remedy: "aop keys init --dir \(path.shellWord)")
                ]
            }
            return [Finding(.keys, .ok, "none in \(path); they are needed off the loopback interface only")]
        }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path), access(path, X_OK) == 0 else {
            return [Finding(.keys, .warning, "only the user of \(path) may look into it", remedy: "run aop doctor as that user")]
        }
        let keys = names.filter { $0.hasSuffix(".key") }.sorted()
        var errors: [KeyError] = []
        func note(_ look: () throws(KeyError) -> Void) {
            do throws(KeyError) { try look() } catch { if !errors.contains(error) { errors.append(error) } }
        }
        note { () throws(KeyError) in try KeyDirectory.check(path) }
        for name in keys { note { () throws(KeyError) in _ = try KeyFile(contentsOf: "\(path)/\(name)") } }
        var list: AuthorizedKeys?
        let listPath = "\(path)/\(KeyDirectory.authorizedFile)"
        if names.contains(KeyDirectory.coordinatorFile) {
            note { () throws(KeyError) in list = try AuthorizedKeys(contentsOf: listPath) }
            // As a coordinator that starts here.
            note { () throws(KeyError) in _ = try CoordinatorKeys(directory: path).authorized() }
        }
        var findings = errors.map { Finding(.keys, of: $0) }
        if let list, !list.letsAnybodyIn(at: WallClock.milliseconds()) {
            findings.append(Finding(.keys, .warning, message: AuthorizedKeys.nobodyText(listPath)))
        }
        guard findings.isEmpty else { return findings }
        let count = (list?.principals.count).map { ", and \($0) that \($0 == 1 ? "is" : "are") let in" } ?? ""
        return [Finding(.keys, .ok, "\(keys.count) in \(path)\(count)")]
    }

    /// By which processes of one user know each other on loopback.
    private func cookie() -> [Finding] {
        guard endpoint.isLoopback, (try? choice.path(for: endpoint, names: KeyDirectory.clientFiles)) == nil else { return [] }
        do throws(CookieError) {
            let path = "\(StateDirectory.path())/\(Cookie.fileName)"
            if try Cookie.load() != nil { return [Finding(.cookie, .ok, path)] }
            try Cookie.checkCanBeMade()
            return [Finding(.cookie, .ok, "none yet; whoever starts first makes \(path)")]
        } catch { return [Finding(.cookie, of: error)] }
    }
}
