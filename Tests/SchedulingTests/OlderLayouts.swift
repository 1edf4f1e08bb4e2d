extension [UInt8] {
    /// What submissions share in a snapshot, as it began in an older layout, which did not have the last late start and the rules; its numbers
    /// have seven bits in each byte.
    func ofLayout(_ layout: UInt8) -> [UInt8] {
        let ends = indices.filter { self[$0] < 0x80 }
        return [layout] + self[(ends[0] + 1)...ends[2]] + self[(ends[4] + 1)...]
    }
}
