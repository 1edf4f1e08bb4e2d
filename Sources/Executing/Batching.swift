/// Cuts lists so that each part fits a message.
package enum Batching {
    package static func split<Element>(_ elements: [Element], limitBytes: Int, size: (Element) -> Int) -> [[Element]] {
        var batches: [[Element]] = []
        var batch: [Element] = []
        var bytes = 0
        for element in elements {
            let count = size(element)
            if !batch.isEmpty && bytes + count > limitBytes {
                batches.append(batch)
                batch = []
                bytes = 0
            }
            batch.append(element)
            bytes += count
        }
        if !batch.isEmpty { batches.append(batch) }
        return batches
    }
}
