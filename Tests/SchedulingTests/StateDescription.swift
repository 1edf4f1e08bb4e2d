/// Everything that a value holds, as text that is equal for equal values: tables and sets are brought into an order.
///
/// It looks at stored properties, so that nothing can be left out by forgetting it.
func stateDescription(of value: Any) -> String {
    var text = ""
    describe(value, into: &text)
    return text
}

private func describe(_ value: Any, into text: inout String) {
    let mirror = Mirror(reflecting: value)
    switch mirror.displayStyle {
    case .dictionary?, .set?:
        text += "{" + mirror.children.map { stateDescription(of: $0.value) }.sorted().joined(separator: ",") + "}"
    case .collection? where value is [UInt8] || value is [Int32] || value is [Int]:
        text += "\(value)"
    case nil:
        text += "\(value)"
    case .enum? where mirror.children.isEmpty:
        text += "\(value)"
    default:
        text += "("
        for child in mirror.children {
            if let label = child.label { text += "\(label):" }
            describe(child.value, into: &text)
            text += ","
        }
        text += ")"
    }
}
