import CoreMetrics
import Synchronization

/// Where swift-metrics' counters, gauges, recorders and timers of this process are kept, to be written as Prometheus' text.
///
/// Bounded: after `HTTPLimits.series` series others are counted nowhere, and `aop_metrics_dropped_total` says how many were asked for.
final class PrometheusRegistry: MetricsFactory {
    fileprivate struct Key: Hashable {
        let label: String
        let labels: [Label]

        struct Label: Hashable {
            let name: String
            let value: String
        }
    }

    private struct State {
        var series: [Key: Series] = [:]
        var dropped: UInt64 = 0
    }

    private let state = Mutex(State())

    init() {}

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { series(label, dimensions, .counter) }
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        series(label, dimensions, aggregate ? .histogram : .gauge)
    }
    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { series(label, dimensions, .gauge) }
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { series(label, dimensions, .histogram) }
    func destroyCounter(_ handler: any CounterHandler) { forget(handler) }
    func destroyRecorder(_ handler: any RecorderHandler) { forget(handler) }
    func destroyMeter(_ handler: any MeterHandler) { forget(handler) }
    func destroyTimer(_ handler: any TimerHandler) { forget(handler) }

    private func series(_ label: String, _ dimensions: [(String, String)], _ kind: PrometheusText.Kind) -> Series {
        let key = Key(label: label, labels: dimensions.map { Key.Label(name: $0.0, value: $0.1) })
        return state.withLock { state in
            if let known = state.series[key] { return known }
            let series = Series(kind)
            if state.series.count < HTTPLimits.series { state.series[key] = series } else { state.dropped += 1 }
            return series
        }
    }

    private func forget(_ handler: AnyObject) {
        state.withLock { state in
            guard let key = state.series.first(where: { $0.value === handler })?.key else { return }
            state.series[key] = nil
        }
    }

    func write(to text: inout PrometheusText) {
        let (all, dropped) = state.withLock { ($0.series, $0.dropped) }
        for (label, series) in Dictionary(grouping: all, by: { $0.key.label }).sorted(by: { $0.key < $1.key }) {
            let kind = series[0].value.kind
            text.begin(label, kind, "Of this process's HTTP server.")
            for (key, series) in series.sorted(by: { $0.key.text < $1.key.text }) where series.kind == kind {
                series.write(label, key.labels.map { ($0.name, $0.value) }, to: &text)
            }
        }
        text.counter("aop_metrics_dropped_total", "Series that were not kept, since there were too many.", dropped)
    }
}

extension PrometheusRegistry.Key {
    fileprivate var text: String { labels.map { "\($0.name)=\($0.value)" }.joined(separator: ",") }
}

/// One series: a number, or a histogram of seconds.
private final class Series: CounterHandler, RecorderHandler, MeterHandler, TimerHandler {
    private struct Values {
        var value = 0.0
        var sum = 0.0
        var counts = [UInt64](repeating: 0, count: Series.bounds.count + 1)
    }

    static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
    let kind: PrometheusText.Kind
    private let values = Mutex(Values())

    init(_ kind: PrometheusText.Kind) { self.kind = kind }

    func increment(by amount: Int64) { values.withLock { $0.value += Double(amount) } }
    func increment(by amount: Double) { values.withLock { $0.value += amount } }
    func decrement(by amount: Double) { values.withLock { $0.value -= amount } }
    func reset() { values.withLock { $0.value = 0 } }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { values.withLock { $0.value = value } }
    func recordNanoseconds(_ duration: Int64) { observe(Double(duration) / 1e9) }
    func record(_ value: Int64) { record(Double(value)) }
    func record(_ value: Double) { if kind == .histogram { observe(value) } else { set(value) } }

    private func observe(_ value: Double) {
        values.withLock { values in
            values.counts[Self.bounds.firstIndex { value <= $0 } ?? Self.bounds.count] += 1
            values.sum += value
        }
    }

    func write(_ label: String, _ labels: [(String, String)], to text: inout PrometheusText) {
        let values = values.withLock { $0 }
        if kind == .histogram {
            text.samples(label, labels, bounds: Self.bounds, values.counts, sum: values.sum)
        } else {
            text.sample(label, labels, values.value)
        }
    }
}
