#!/usr/bin/env bash
# Installs the systemd units, with the places of a prefix, and the settings to begin with. Usage: install-service.sh PREFIX [DESTDIR]
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

prefix="${1:?install-service.sh: a prefix is needed, for example /opt/millrace}"
case "$prefix" in /*) ;; *) die "PREFIX=$prefix: an absolute path is needed, since systemd runs the programs there" ;; esac
root="${2:-}$prefix"

# install_text <file> <target>
install_text() {
  install -D -m 644 "$1" "$2"
  sed "s|/opt/millrace|$prefix|g" "$1" > "$2"
}

install -D -m 644 README.md "$root/README.md"
install_text deploy/millrace.toml "$root/share/millrace/millrace.toml"
for unit in deploy/systemd/*; do
  install_text "$unit" "$root/lib/systemd/system/$(basename "$unit")"
done
say "to run as a service: $root/lib/systemd/system/millrace.service says how"
