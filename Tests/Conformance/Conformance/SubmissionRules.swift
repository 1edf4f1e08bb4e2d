/// Submissions under a key.
let submissionRules: [Rule] = [
    Rule("sameKeyIsTheSameSubmission", "A submission key: the same key and graph return the first submission, with its outcomes.") {
        account in
        let others = account.tellingsAgain.compactMap { node, place, outcome -> Rule.Breach? in
            account.outcome(node) == outcome ? nil : .init(node, [place], "was told again otherwise: \(outcome)")
        }
        return others + (account.secondSubmission.map { [Rule.Breach(0, [$0], "was submitted twice under one key")] } ?? [])
    }
]
