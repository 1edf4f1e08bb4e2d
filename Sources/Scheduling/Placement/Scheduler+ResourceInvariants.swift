/// Resources, recomputed from the units: for checks.
extension Scheduler {
    func resourceViolations() -> [String] {
        var found: [String] = []
        var taken: [Int: [String: Int64]] = [:]
        var numbers: [Int: [String: Set<Int>]] = [:]
        var holders = 0
        for submission in durable.submissions {
            for unit in submission.units.indices {
                let id = UnitID(submission.number, unit)
                let holding = durable.resources.holding(of: id)
                guard case .assigned(_, let worker) = submission.units[unit].phase else {
                    if !holding.isEmpty { found.append("\(submission.id)/\(submission.path(of: unit)) runs nowhere and has resources") }
                    continue
                }
                let need = submission.need(of: unit)
                if need != holding.map({ ResourceAmount(name: $0.name, amount: $0.amount) }) {
                    found.append("\(submission.id)/\(submission.path(of: unit)) needs \(need), it has \(holding)")
                }
                if !holding.isEmpty { holders += 1 }
                let host = host(of: worker.index)
                for resource in holding {
                    taken[host, default: [:]][resource.name, default: 0] += resource.amount
                    for index in resource.indices where !numbers[host, default: [:]][resource.name, default: []].insert(index).inserted {
                        found.append("`\(resource.name)` \(index) of host \(host) is given out twice")
                    }
                }
            }
        }
        for (host, resources) in durable.resources.orphaned {
            for resource in resources {
                taken[host, default: [:]][resource.name, default: 0] += resource.amount
                for index in resource.indices where !numbers[host, default: [:]][resource.name, default: []].insert(index).inserted {
                    found.append("`\(resource.name)` \(index) of host \(host) is given out though an attempt may still use it")
                }
            }
        }
        if holders != durable.resources.holdingCount {
            found.append("\(durable.resources.holdingCount) units are said to have resources, there are \(holders)")
        }
        for host in workers.hosts.indices { found += violations(ofHost: host, taken[host] ?? [:], numbers[host] ?? [:]) }
        for entry in demands.entries where entry.host.map({ workers.hosts[$0].keptFor != entry.lane }) ?? false {
            found.append("class \(entry.lane) has a host that is not kept for it")
        }
        return found
    }

    private func violations(ofHost host: Int, _ taken: [String: Int64], _ numbers: [String: Set<Int>]) -> [String] {
        var found: [String] = []
        let capacity = workers.hosts[host].capacity
        for name in Set(capacity.map(\.name)).union(taken.keys).sorted() {
            let sum = taken[name] ?? 0
            if durable.resources.taken(of: name, on: host) != sum {
                found.append("host \(host) counts \(durable.resources.taken(of: name, on: host)) of `\(name)` taken, there are \(sum)")
            }
            // Nobody of the host has attached since the start.
            guard !capacity.isEmpty else { continue }
            if sum > capacity.amount(of: name) {
                found.append("of `\(name)` \(sum) are taken on host \(host), which has \(capacity.amount(of: name))")
            }
            if let last = numbers[name]?.max(), last >= capacity.amount(of: name) {
                found.append("`\(name)` \(last) is given out on host \(host), which has \(capacity.amount(of: name))")
            }
        }
        if let lane = workers.hosts[host].keptFor, demands.host(of: lane) != host {
            found.append("host \(host) is kept for class \(lane), which does not know")
        }
        return found
    }
}
