import Settings

/// Configuration files of the commands.
enum ConfigurationFiles {
    static func run(_ bytes: [UInt8]) { _ = Settings.problems(of: bytes, path: "config.yaml") }

    static var seeds: [[UInt8]] {
        [
            """
            # a comment
            coordinator: tcp://127.0.0.1:7600
            listen: [tcp://0.0.0.0:7600, ipc:///run/aop/socket]
            retain: 7d
            snapshot-bytes: 67108864
            labels:
              - fast
              - zone=a
            shell: on
            grace: 1m30s
            log-level: INFO
            """, "{}", "# nothing\n",
        ].map { Array($0.utf8) }
    }

    static var words: [String] {
        Setting.allCases.map { "\n\($0.name): " } + [
            "[", "]", "forever", "7d", "tcp://[::1]:65535", "ipc://", "99999999999999999999", "&a", "*a", "- ", "{", "}", "\n", "---", "!!",
        ]
    }
}
