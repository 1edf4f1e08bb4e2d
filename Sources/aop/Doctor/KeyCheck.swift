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
                return [Finding(.keys, .error, "there is no folder \(path), where keys are to be", remedy: "aop keys init --dir \(path)")]
            }
            return [Finding(.keys, .ok, "none in \(path); they are needed off the loopback interface only")]
        }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path), access(path, X_OK) == 0 else {
            return [Finding(.keys, .warning, "only the user of \(path) may look into it", remedy: "run aop doctor as that user")]
        }
        var findings = folderMode(path)
        let keys = names.filter { $0.hasSuffix(".key") }.sorted()
        for name in keys {
            do throws(KeyError) { _ = try KeyFile(contentsOf: "\(path)/\(name)") } catch { findings.append(Finding(.keys, of: error)) }
        }
        let authorized = authorizedKeys(path, names)
        findings += authorized.findings
        if findings.isEmpty {
            let count = authorized.count.map { ", and \($0) that \($0 == 1 ? "is" : "are") let in" } ?? ""
            findings.append(Finding(.keys, .ok, "\(keys.count) in \(path)\(count)"))
        }
        return findings
    }

    private func folderMode(_ path: String) -> [Finding] {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & 0o022 != 0 else { return [] }
        let mode = String(status.st_mode & 0o7777, radix: 8)
        return [Finding(.keys, .error, "\(path) has mode \(mode): other users could change keys in it", remedy: "chmod go-w \(path)")]
    }

    /// Of a coordinator.
    private func authorizedKeys(_ path: String, _ names: [String]) -> (count: Int?, findings: [Finding]) {
        guard names.contains(KeyDirectory.coordinatorFile) else { return (nil, []) }
        let file = "\(path)/\(KeyDirectory.authorizedFile)"
        guard names.contains(KeyDirectory.authorizedFile) else {
            return (
                nil,
                [
                    Finding(
                        .keys, .warning, "there is no \(file): the coordinator lets nobody in",
                        remedy: "aop keys generate NAME and aop keys authorize NAME --role ROLE let somebody in")
                ]
            )
        }
        do throws(KeyError) { return (try AuthorizedKeys(contentsOf: file).principals.count, []) } catch {
            return (nil, [Finding(.keys, of: error)])
        }
    }

    /// By which processes of one user know each other on loopback.
    private func cookie() -> [Finding] {
        guard endpoint.isLoopback, (try? choice.path(for: endpoint, names: KeyDirectory.clientFiles)) == nil else { return [] }
        do throws(CookieError) {
            let isThere = try Cookie.load() != nil
            let path = "\(StateDirectory.path())/\(Cookie.fileName)"
            return [Finding(.cookie, .ok, isThere ? path : "none yet; whoever starts first makes \(path)")]
        } catch { return [Finding(.cookie, of: error)] }
    }
}
