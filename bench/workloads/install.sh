#!/bin/bash
# Installs the Debian packages that the real workloads of catalog.txt need.
set -eu
cd "$(dirname "$0")"
as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo)
mapfile -t packages < <(awk -F'|' '!/^#/ && NF { print $4 }' catalog.txt | tr ' ' '\n' | sort -u | sed '/^$/d')
"${as_root[@]}" apt-get install -y --no-install-recommends "${packages[@]}"
