#!/usr/bin/env bash
# Makes the Debian package of aop and prints where it is.
#
#   build-deb.sh [BINARY]          without a binary one is built, with the toolchain's libraries inside
#   build-deb.sh --test BINARY     around one that has them not inside, as the test build: they go along. For tests of the package, only.
set -euo pipefail
cd "$(dirname "$0")/.."
is_test=
if [ "${1:-}" = --test ]; then
    is_test=yes
    shift
fi
binary=${1:-}
if [ -z "$binary" ]; then
    scripts/install-dependencies.sh libcurl4-openssl-dev   # what is inside a static binary needs it to link
    build=("${SWIFT:-swift}" build -c release --static-swift-stdlib --product aop --scratch-path .build/static)
    "${build[@]}" >&2
    binary=$("${build[@]}" --show-bin-path)/aop
fi
if [ -z "$is_test" ] && ldd "$binary" | grep -q libswiftCore; then
    echo "$binary needs the libraries of the Swift toolchain: build it with --static-swift-stdlib" >&2
    exit 1
fi
version=$("$binary" --version | awk '{print $2}')
architecture=$(dpkg --print-architecture)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
root=$stage/root
install -D -m 755 "$binary" "$root/usr/bin/aop"
strip --strip-unneeded "$root/usr/bin/aop"
scripts/install-manuals.sh "$binary" "$root/usr"
install -D -m 644 -t "$root/usr/lib/systemd/system" deploy/systemd/*.service
install -D -m 644 deploy/systemd/sysusers.conf "$root/usr/lib/sysusers.d/aop.conf"
install -D -m 644 deploy/systemd/tmpfiles.conf "$root/usr/lib/tmpfiles.d/aop.conf"
install -D -m 644 deploy/config.yaml "$root/etc/aop/config.yaml"
# As they lie in the repository, with what they lead to: their links lead to it here, too.
documents=$root/usr/share/doc/aop
install -D -m 644 -t "$documents" README.md SECURITY.md CHANGELOG.md
for directory in docs docs/decisions docs/images deploy; do
    find "$directory" -maxdepth 1 -type f -exec install -D -m 644 -t "$documents/$directory" {} +
done
install -D -m 644 -t "$documents/Sources/AOperation/AOperation.docc" Sources/AOperation/AOperation.docc/*.md
find examples -type f -not -path '*/.build/*' -exec install -D -m 644 {} "$documents/{}" \;
chmod 755 "$documents/examples/Duplicates/run.sh"
# The sources of the tests are not in it.
sed -i 's/\[\([^]]*\)\](\.\.\/Tests[^)]*)/\1/g' "$documents"/docs/*.md
scripts/check-links.sh "$documents"
scripts/debian-copyright.sh >"$documents/copyright"
chmod 644 "$documents/copyright"
programs=("$root/usr/bin/aop")
if [ -n "$is_test" ]; then
    install -d "$root/usr/lib/aop" "$root/etc/ld.so.conf.d"
    ldd "$binary" | awk '$3 ~ /^\// && $3 !~ /^(\/usr)?\/lib(64)?\// {print $3}' | xargs -r cp -Lt "$root/usr/lib/aop"
    echo /usr/lib/aop >"$root/etc/ld.so.conf.d/aop.conf"
    programs+=("$root"/usr/lib/aop/*)
fi

# What it needs of the system, with versions where dpkg-dev can tell them.
depends="libc6, libcurl4, libsqlite3-0, libstdc++6, libzmq5"
if command -v dpkg-shlibdeps >/dev/null; then
    mkdir "$stage/debian"
    printf 'Source: aop\n\nPackage: aop\nArchitecture: any\n' >"$stage/debian/control"
    # What it has along belongs to no package.
    depends=$(cd "$stage" && dpkg-shlibdeps -O ${is_test:+--ignore-missing-info -l"$root/usr/lib/aop"} "${programs[@]}" 2>/dev/null \
        | sed -n 's/^shlibs:Depends=//p')
fi
mkdir -p "$root/DEBIAN"
install -m 755 deploy/debian/* "$root/DEBIAN/"
[ -z "$is_test" ] || echo "activate-noawait ldconfig" >"$root/DEBIAN/triggers"
echo /etc/aop/config.yaml >"$root/DEBIAN/conffiles"
cat >"$root/DEBIAN/control" <<END
Package: aop
Version: $version
Architecture: $architecture
Maintainer: AOperation Cluster <root@localhost>
Section: admin
Priority: optional
Installed-Size: $(du -sk "$root" | cut -f1)
Depends: $depends, passwd
Description: runs graphs of operations on a cluster of worker processes
 A coordinator keeps graphs of commands and operations on disk and gives what is ready to workers. The package has the
 one binary, aop, and a service for each: aop-coordinator and aop-worker. Neither is started by installing it.
END
package=.build/aop_${version}_$architecture${is_test:+_test}.deb
mkdir -p .build
compression=(-Zxz -z2)
[ -z "$is_test" ] || compression=(-Zgzip -z1)   # nobody sends it anywhere
dpkg-deb --root-owner-group "${compression[@]}" --build "$root" "$package" >&2
echo "$package"
