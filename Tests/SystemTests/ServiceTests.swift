import AOperation
import Cluster
import Foundation
import LocalHTTPServer
import Synchronization
import Testing
import TrialOperations

extension SystemTests {
    /// The documents' chain of loading, error handling and decoding, each link on a worker.
    @Suite struct Services {
        private func server() throws -> LocalHTTPServer {
            try LocalHTTPServer { request in
                if request.hasPrefix("GET /user ") { return LocalHTTPServer.answer(200, #"{"name": "Ada"}"#) }
                if request.hasPrefix("GET /broken ") { return LocalHTTPServer.answer(200, "no JSON") }
                if request.hasPrefix("POST /echo ") {
                    let body = request.components(separatedBy: "\r\n\r\n").dropFirst().joined()
                    let tag = request.contains("X-Tag: seven") ? "seven" : "none"
                    return LocalHTTPServer.answer(201, "\(tag): \(body)", type: "text/plain; charset=utf-8")
                }
                return LocalHTTPServer.answer(404, "gone", type: "text/plain")
            }
        }

        private func url(_ server: LocalHTTPServer, _ path: String) throws -> URL {
            try #require(URL(string: "\(server.address)\(path)"))
        }

        private func user(_ url: URL) -> JSONDecoderOperation<User> {
            URLSessionTaskOperation.data(for: url)
                .deliver(to: ServicesErrorHandleOperation())
                .deliver(to: JSONDecoderOperation<User>())
        }

        private func with(_ body: (ClusterQueue, LocalHTTPServer) async throws -> Void) async throws {
            PortableErrors.register(ServiceTypes.errors)
            let server = try server()
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                cluster.requireRemote = true
                try await body(cluster, server)
                await cluster.close()
            }
        }

        @Test func theDocumentsChain_runsOnWorkers_andEachLinksErrorComesBackAsItself() async throws {
            try await with { cluster, server in
                let local = AOperationQueue()
                #expect(try await user(url(server, "/user")).value(on: cluster) == User(name: "Ada"))
                for path in ["/gone", "/broken"] {
                    let (here, there) = (
                        await user(try url(server, path)).result(on: local), await user(try url(server, path)).result(on: cluster)
                    )
                    #expect(there.failure?.publisher == here.failure?.publisher)
                    #expect(there.failure?.localizedDescription == here.failure?.localizedDescription)
                }
                let refused = await user(try url(server, "/gone")).result(on: cluster).failure
                #expect(refused?.publishedError as? ServicesErrorHandleOperation.Error == .serverResponseError)
                let nobody = try #require(URL(string: "http://127.0.0.1:1/"))
                let unreachable = await user(nobody).result(on: cluster).failure
                #expect((unreachable?.publishedError as? URLError)?.code == .cannotConnectToHost)
                #expect((unreachable?.publishedError as? URLError)?.failingURL == nobody)
                #expect(unreachable?.publisher == "URLSessionDataTaskOperation")
            }
        }

        @Test func aWrapperAroundTheChain_makesItHere_andItRunsThere() async throws {
            try await with { cluster, server in
                cluster.requireRemote = false
                let service = ServiceOperation<User>(url: try url(server, "/user"))
                #expect(try await service.value(on: cluster) == User(name: "Ada"))
                let refused = await ServiceOperation<User>(url: try url(server, "/gone")).result(on: cluster).failure
                #expect(refused?.publishedError as? ServicesErrorHandleOperation.Error == .serverResponseError)
            }
        }

        @Test func answers_keepStatusHeadersAndBody_whatIsUploadedGoesAlong_andProgressIsTold() async throws {
            try await with { cluster, server in
                var request = URLRequest(url: try url(server, "/echo"))
                request.setValue("seven", forHTTPHeaderField: "X-Tag")
                let fractions = Mutex<[Double]>([])
                let upload = { [request] in
                    URLSessionTaskOperation.upload(for: request, from: Data("häufig".utf8))
                        .didChangeProgress { progress in fractions.withLock { $0.append(progress.fractionCompleted) } }
                }
                let (data, response) = try await upload().value(on: cluster)
                #expect(String(decoding: data, as: UTF8.self) == "seven: häufig")
                let answer = try #require(response as? HTTPURLResponse)
                #expect(answer.statusCode == 201)
                #expect(answer.url == request.url)
                #expect(answer.mimeType == "text/plain")
                #expect(answer.textEncodingName == "utf-8")
                #expect(answer.value(forHTTPHeaderField: "Content-Length") == "\(data.count)")
                // One that is as short as this may have ended before anybody followed it: what it said then is told to nobody.
                try await eventually("progress is told") {
                    if fractions.withLock({ $0.isEmpty }) { _ = try await upload().value(on: cluster) }
                    return fractions.withLock { $0.last } == 1
                }
            }
        }

        @Test func receiverThatDoesNotNameTheTwo_receivesThem() async throws {
            try await with { cluster, server in
                let length = URLSessionTaskOperation.data(for: try url(server, "/user")).deliver(to: BodyLength())
                #expect(try await length.value(on: cluster) == 15)
            }
        }

        @Test func aDownload_isAFileOfThisMachine() async throws {
            try await with { cluster, server in
                let (file, response) = try await URLSessionTaskOperation.download(for: url(server, "/user")).value(on: cluster)
                defer { try? FileManager.default.removeItem(at: file) }
                #expect(try Data(contentsOf: file) == Data(#"{"name": "Ada"}"#.utf8))
                #expect((response as? HTTPURLResponse)?.statusCode == 200)
            }
        }

        @Test func whatOnlyThisMachineHas_isLoadedHere_andItsValueGoesToWorkers() async throws {
            try await with { cluster, _ in
                let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
                try Data(#"{"name": "Grace"}"#.utf8).write(to: file)
                defer { try? FileManager.default.removeItem(at: file) }
                await #expect(throws: ClusterError.self) { try await cluster.submit(URLSessionTaskOperation.data(for: file)) }
                cluster.requireRemote = false
                let decoder = JSONDecoderOperation<User>()
                let body = MapOperationBlock<(data: Data, response: URLResponse), Data> { value, finish in
                    if let value { finish(value.map(\.data)) }
                }
                URLSessionTaskOperation.data(for: file).deliver(to: body).deliver(to: decoder)
                #expect(try await decoder.value(on: cluster) == User(name: "Grace"))
            }
        }
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
