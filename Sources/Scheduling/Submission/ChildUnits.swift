/// Children of one unit, without a list of their own.
struct ChildUnits: RandomAccessCollection {
    private enum Form {
        case instances(first: Int, stride: Int)
        case nodes(ArraySlice<Int32>, base: Int, offsets: [Int32], added: [Int32])
    }
    private let form: Form
    let endIndex: Int
    var startIndex: Int { 0 }

    init(instances first: Int, count: Int, stride: Int) {
        form = .instances(first: first, stride: stride)
        endIndex = count
    }

    /// - Parameter added: units that came later.
    init(nodes: ArraySlice<Int32>, base: Int, offsets: [Int32], added: [Int32]) {
        form = .nodes(nodes, base: base, offsets: offsets, added: added)
        endIndex = nodes.count + added.count
    }

    subscript(_ index: Int) -> Int {
        switch form {
        case .instances(let first, let stride): first + index * stride
        case .nodes(let nodes, let base, let offsets, let added):
            index < nodes.count ? base + Int(offsets[Int(nodes[nodes.startIndex + index])]) : Int(added[index - nodes.count])
        }
    }
}

/// The elements of a forEach in one buffer.
struct ElementList: Hashable {
    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    init(_ elements: [[UInt8]]) {
        bytes.reserveCapacity(elements.reduce(0) { $0 + $1.count })
        ends.reserveCapacity(elements.count)
        for element in elements {
            bytes += element
            ends.append(bytes.count)
        }
    }

    var count: Int { ends.count }
    subscript(_ index: Int) -> [UInt8] { Array(bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]]) }
}
