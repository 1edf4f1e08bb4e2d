import Foundation
import Testing

extension SystemTests {
    /// `examples/film.yaml`.
    @Suite struct FilmExample {
        @Test func filmAndSheet_haveEveryFrameInItsPlace() async throws {
            try await ProcessHarness.with { harness in
                let (count, width, height) = (7, 32, 16)
                let value = try await harness.value(
                    ofExample: "film.yaml",
                    ["dir": "\(harness.directory)/film", "count": "\(count)", "width": "\(width)", "height": "\(height)"])
                let saved = value[3]
                #expect(saved["frames"] == .number(Double(count)))

                let film = try Data(contentsOf: URL(filePath: "\(harness.directory)/film/film.y4m"))
                let head = Data("YUV4MPEG2 W\(width) H\(height) F24:1 Ip A1:1 Cmono\n".utf8)
                let mark = Data("FRAME\n".utf8)
                let size = mark.count + width * height
                try #require(film.count == head.count + count * size)
                #expect(film.prefix(head.count) == head)
                let frames = (0..<count).map { Array(film[(head.count + $0 * size)...].prefix(size)) }
                #expect(frames.allSatisfy { $0.prefix(mark.count).elementsEqual(mark) })
                let pixels = frames.map { $0.dropFirst(mark.count).map { Int($0) } }
                #expect(Set(pixels).count == count, "every frame is another one")
                for (frame, said) in zip(pixels, saved["brightness"].elements) {
                    let mean = Double(frame.reduce(0, +)) / Double(frame.count)
                    #expect(abs(mean - (said.number ?? -1)) < 0.01)
                }

                let sheet = try Data(contentsOf: URL(filePath: "\(harness.directory)/film/sheet.pgm"))
                let sheetHead = Data("P5 \(6 * width / 4) \(2 * height / 4) 255\n".utf8)
                #expect(sheet.prefix(sheetHead.count) == sheetHead)
                let small = sheet.dropFirst(sheetHead.count).map { Int($0) }
                try #require(small.count == 6 * width / 4 * 2 * height / 4)
                // The seventh begins the second row.
                #expect(
                    Array(small[(6 * width / 4 * height / 4)...].prefix(width / 4))
                        == stride(from: 0, to: width, by: 4).map { pixels[6][$0] })
            }
        }

        @Test(arguments: [("count", "x", "count is \"x\""), ("count", "0", "1 or more"), ("width", "8", "16 or more")])
        func badInput_isNamed(name: String, value: String, message: String) async throws {
            try await ProcessHarness.with { harness in
                let finished = try await harness.example("film.yaml", [name: value, "dir": "\(harness.directory)/film"])
                #expect(finished.status == 2, "\(finished)")
                #expect(try harness.errors(of: finished).contains(message), "\(finished)")
                #expect(harness.names(in: "film").isEmpty)
            }
        }
    }
}
