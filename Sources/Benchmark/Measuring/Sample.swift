/// One measurement.
struct Sample {
    var operations: Int
    var seconds: Double
    var cpuSeconds: Double
    var peakBytes: Int?

    var microsecondsPerOperation: Double { seconds * 1e6 / Double(operations) }
    var cpuMicrosecondsPerOperation: Double { cpuSeconds * 1e6 / Double(operations) }
}
