#!/usr/bin/env bash
# Regenerates Sources/Wire/Generated from Sources/Wire/Protocol.
# Needs protoc (Debian: protobuf-compiler). The Swift plugin is built from the swift-protobuf this package resolved,
# so that generated code and runtime always fit.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v protoc >/dev/null || { echo "protoc is missing: apt-get install protobuf-compiler" >&2; exit 69; }
plugin=${PROTOC_GEN_SWIFT:-}
if [ -z "$plugin" ]; then
    swift package resolve
    checkout=.build/checkouts/swift-protobuf
    swift build --package-path "$checkout" --scratch-path .build/protocol-plugin -c release --product protoc-gen-swift
    plugin=.build/protocol-plugin/release/protoc-gen-swift
fi
protoc --plugin=protoc-gen-swift="$plugin" --proto_path=Sources/Wire/Protocol \
    --swift_out=Sources/Wire/Generated --swift_opt=Visibility=Public \
    Sources/Wire/Protocol/wire.proto

# The storage of a large message belongs to one message, or is shared and only read (`_uniqueStorage`), which the compiler cannot
# see: else each field that is read or written is looked for among all accesses of the thread, a fifth of the coordinator's time.
sed -i -E 's/^    var (_[A-Za-z0-9]+: )/    @exclusivity(unchecked) var \1/' Sources/Wire/Generated/wire.pb.swift
