// Appended to a copy of Package.swift: one target of tests, and what that needs.
var needed: Set<String> = ["TARGET"]
var count = 0
while count < needed.count {
    count = needed.count
    for target in package.targets where needed.contains(target.name) {
        for case .byNameItem(let name, _) in target.dependencies { needed.insert(name) }
    }
}
package.targets.removeAll { !needed.contains($0.name) }
package.products.removeAll { product in
    let targets =
        (product as? Product.Library)?.targets ?? (product as? Product.Executable)?.targets ?? []
    return !targets.allSatisfy(needed.contains)
}
