import GraphFile
import Testing

/// `{secret: NAME}` in graph files.
@Suite struct SecretTests {
    private func parameters(_ node: String) throws -> [String] {
        try GraphFileLoader.load(text: "group: [\(node)]", file: "f.yaml").graph.parameters.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func secrets_areNamedInEnvironmentWithAndStdin_andNowhereElseRead() throws {
        #expect(
            try parameters("{run: a, env: {KEY: {secret: api-key}, PLAIN: x}, stdin: {secret: in.put}}")
                == [#"{"environment":{"KEY":{"$aop.secret":"api-key"},"PLAIN":"x"},"run":"a","stdin":{"$aop.secret":"in.put"}}"#])
        #expect(
            try parameters("{op: Own, with: {list: [1, {secret: k}], secret: plain}}")
                == [#"{"list":[1,{"$aop.secret":"k"}],"secret":"plain"}"#])
        #expect(
            try parameters("{op: http, with: {url: 'http://h', headers: {Authorization: {secret: token}}, body: {secret: b}}}")
                == [#"{"body":{"$aop.secret":"b"},"headers":{"Authorization":{"$aop.secret":"token"}},"url":"http://h"}"#])
    }

    @Test func parametersOfAnOperation_areNoSecret_evenIfTheOnlyOneIsCalledSo() throws {
        #expect(try parameters("{op: Own, with: {secret: plain}}") == [#"{"secret":"plain"}"#])
    }

    @Test func insideAForEach_theNameStaysAsItIs() throws {
        #expect(
            try parameters("{forEach: [1], run: a, env: {A: {secret: k}, B: \"${item}\"}}")
                == [#"{"environment":{"A":{"$aop.secret":"k"},"B":"${item}"},"run":"a"}"#])
    }
}
