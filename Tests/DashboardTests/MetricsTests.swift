import CoreMetrics
import Scheduling
import Testing

@testable import Dashboard

@Suite struct MetricsTests {
    @Test func text_hasLabelsEscaped_andHistogramsThatAddUp() {
        var text = PrometheusText()
        text.begin("a_total", .counter, "of\nthings")
        text.sample("a_total", [("type", "say \"x\\y\"\n")], 3)
        var histogram = Histogram(bounds: [10, 20])
        for value: Int64 in [-5, 10, 11, 500] { histogram.add(value) }
        text.histogram("b_seconds", "b", histogram, unit: 1e-3)
        #expect(
            text.text == """
                # HELP a_total of\\nthings
                # TYPE a_total counter
                a_total{type="say \\"x\\\\y\\"\\n"} 3
                # HELP b_seconds b
                # TYPE b_seconds histogram
                b_seconds_bucket{le="0.01"} 2
                b_seconds_bucket{le="0.02"} 3
                b_seconds_bucket{le="+Inf"} 4
                b_seconds_sum 0.521
                b_seconds_count 4

                """)
    }

    @Test func registry_keepsWhatSwiftMetricsIsTold_upToItsLimit() {
        let registry = PrometheusRegistry()
        Counter(label: "c_total", dimensions: [("k", "v")], factory: registry).increment(by: 2)
        Counter(label: "c_total", dimensions: [("k", "v")], factory: registry).increment()
        Gauge(label: "g", dimensions: [], factory: registry).record(7)
        CoreMetrics.Timer(label: "t_seconds", dimensions: [], factory: registry).recordNanoseconds(20_000_000)
        for number in 0..<2_000 { Counter(label: "many_total", dimensions: [("n", "\(number)")], factory: registry).increment() }
        var text = PrometheusText()
        registry.write(to: &text)
        #expect(text.text.contains("c_total{k=\"v\"} 3\n"))
        #expect(text.text.contains("\ng 7\n"))
        #expect(text.text.contains("t_seconds_bucket{le=\"0.025\"} 1\n") && text.text.contains("t_seconds_bucket{le=\"0.01\"} 0\n"))
        #expect(text.text.split(separator: "\n").count { $0.hasPrefix("many_total{") } == HTTPLimits.series - 3)
        #expect(text.text.contains("aop_metrics_dropped_total \(2_000 - (HTTPLimits.series - 3))\n"))
    }
}
