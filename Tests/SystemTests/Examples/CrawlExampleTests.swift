import Foundation
import Testing

extension SystemTests {
    /// `examples/crawl.yaml`.
    @Suite struct CrawlExample {
        @Test func everyPage_isReadOnce_busyOnesAgain_andTheServerIsGone() async throws {
            try await ProcessHarness.with { harness in
                let value = try await harness.value(ofExample: "crawl.yaml", ["dir": "\(harness.directory)/crawl"])
                let address = try #require(harness.lines(of: "crawl/address").first)
                let report = value[2][6]
                let pages = ["", "about", "archive", "news", "news/1", "news/2", "news/3", "team"]
                #expect(report["pages"].keys == Set(pages.map { address + $0 }))
                #expect(report["pages"][address + "news/2"] == "Page /news/2")
                #expect(report["dead"] == [.object(["on": .string(address + "archive"), "link": .string(address + "lost")])])
                let requests = harness.lines(of: "crawl/requests").compactMap { $0.split(separator: "\"").first.map(String.init) }
                let expected = (pages + ["about", "lost"]).map { "GET /\($0) HTTP/1.1" } + ["DELETE / HTTP/1.1"]
                #expect(requests.sorted() == expected.sorted())
            }
        }

        @Test(arguments: [
            ("ftp://example", "site is \"ftp://example\""), ("http://127.0.0.1:1/", "http://127.0.0.1:1/ cannot be read"),
        ])
        func siteThatIsNone_isNamed(site: String, message: String) async throws {
            try await ProcessHarness.with { harness in
                let finished = try await harness.example("crawl.yaml", ["site": site, "dir": "\(harness.directory)/crawl"])
                #expect(finished.status == 2, "\(finished)")
                #expect(try harness.errors(of: finished).contains(message), "\(finished)")
                #expect(harness.processes().isEmpty)
            }
        }

        /// A site of one's own is not stopped at the end.
        @Test func siteThatRunsAlready_isCrawled_andGoesOn() async throws {
            try await ProcessHarness.with { harness in
                let python = try #require(Examples.program("python3"), "python3, which the example needs")
                _ = try harness.folders("site", "site/deep")
                _ = try harness.write("site/index.html", "<title>Start</title><a href='deep/'>d</a> <a href='http://other.invalid/'>o</a>")
                _ = try harness.write("site/deep/index.html", "<title>Deep &amp; down</title><a href='../index.html#top'>up</a>")
                let server = harness.start(
                    python, ["-u", "-m", "http.server", "--bind", "127.0.0.1", "--directory", "\(harness.directory)/site", "0"])
                let address = try await eventually("the server says where it is") {
                    server.stdout.split(separator: "(").last?.split(separator: ")").first.map(String.init)
                }
                let finished = try await harness.example("crawl.yaml", ["site": address, "dir": "\(harness.directory)/crawl"])
                #expect(finished.status == 0, "\(finished)")
                let report = try JSON(parsing: finished.text)["value"][2][6]
                #expect(report["pages"].keys == [address, address + "deep/", address + "index.html"], "no other site")
                #expect(report["pages"][address + "deep/"] == "Deep & down")
                #expect(harness.processes(with: "http.server").count == 1)
            }
        }
    }
}
