#!/bin/sh
# deb.sh [FOLDER]: builds the program for /usr and packs it as FOLDER/gpu-audit_VERSION_ARCH.deb.
#
# Needs what ./setup build installs, and dpkg-dev for the dependencies, which are taken from the
# libraries the program is linked with. The package runs nothing when it is installed.
set -eu
cd "$(dirname "$0")/.."
top=$PWD
target=${1:-.}
mkdir -p "$target"
target=$(cd "$target" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$work/build" "$work/debian"
cd "$work/build"
"$top/configure" --prefix=/usr --sysconfdir=/etc --localstatedir=/var --with-systemdsystemunitdir=/lib/systemd/system \
    --disable-unit-tests >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }
make -j"$(nproc)" >>"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }
make install-strip DESTDIR="$work/root" >>"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }
cd "$work"
version=$("$work/build/gpu-audit" --version | sed 's/^gpu-audit //')
arch=$(dpkg --print-architecture)

# dpkg-shlibdeps looks for a source package; it wants no more of it than this.
printf 'Source: gpu-audit\n\nPackage: gpu-audit\nArchitecture: any\n' >debian/control
libraries=$(dpkg-shlibdeps -O root/usr/bin/gpu-audit 2>/dev/null | sed -n 's/^shlibs:Depends=//p')

gzip -9n root/usr/share/man/man*/*
mkdir -p root/DEBIAN root/etc/gpu-audit
cat >root/DEBIAN/control <<END
Package: gpu-audit
Version: $version
Architecture: $arch
Maintainer: The gpu-audit developers <gpu-audit@example.invalid>
Installed-Size: $(du -sk root | cut -f1)
Depends: $libraries, postgresql | postgresql-client
Section: admin
Priority: optional
Description: audit what GPUs cost and did in a quarter
 Reads bills, GPU telemetry, an inventory of owned GPUs and the projects of
 an issue tracker into PostgreSQL, works out what every GPU-hour cost and
 did, sets that beside the cost model, and writes a workbook that says what
 to stop, commit and renegotiate.
END
dpkg-deb --root-owner-group --build root "$target/gpu-audit_${version}_$arch.deb"
