#!/usr/bin/env bash
# Makes the container image of aop.
#
#   container-image.sh TAG            from source, in the image of the Swift toolchain; where that cannot be had, this machine's
#                                     toolchain builds the binary
#   container-image.sh TAG BINARY     around a binary that is there
set -euo pipefail
cd "$(dirname "$0")/.."
tag=${1:?usage: container-image.sh TAG [BINARY]} binary=${2:-}

# What the toolchain has in libraries goes along, for a binary that has not got them inside (--static-swift-stdlib).
lay_out() {
    install -D -m 755 "$binary" "$stage/stage/bin/aop"
    mkdir -p "$stage/stage/lib"
    ldd "$binary" | awk '$3 ~ /^\// && $3 !~ /^(\/usr)?\/lib(64)?\// {print $3}' | xargs -r cp -Lt "$stage/stage/lib"
    cp deploy/Dockerfile.binary deploy/container-keys deploy/container-health "$stage/"
}

have_image() { docker image inspect "$1" >/dev/null 2>&1 || docker pull -q "$1" >/dev/null 2>&1; }

if [ -z "$binary" ]; then
    toolchain=$(sed -n 's/^FROM \(swift:[^ ]*\).*/\1/p' deploy/Dockerfile)
    if have_image "$toolchain"; then
        exec docker build -f deploy/Dockerfile -t "$tag" .
    fi
    echo "the image $toolchain cannot be had here: building with this machine's toolchain" >&2
    scripts/install-dependencies.sh libcurl4-openssl-dev   # what is inside a static binary needs it to link
    build=("${SWIFT:-swift}" build -c release --static-swift-stdlib --product aop --scratch-path .build/static)
    "${build[@]}"
    binary=$("${build[@]}" --show-bin-path)/aop
fi
if ! have_image debian:bookworm-slim; then
    cat >&2 <<'END'
the image debian:bookworm-slim cannot be had here. Without a registry Debian's archive has what it is made of:
  apt-get install mmdebstrap
  mmdebstrap --variant=minbase bookworm - | docker import - debian:bookworm-slim
END
    exit 69
fi
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
lay_out
docker build -q -f "$stage/Dockerfile.binary" -t "$tag" "$stage"
