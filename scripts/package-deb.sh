#!/usr/bin/env bash
# Makes the Debian package from what is in build/. Usage: package-deb.sh [FOLDER]    (default: dist)
# PACKAGE_VERSION replaces the project's version, PACKAGE_MAINTAINER the maintainer, PACKAGE_COMPRESSION (xz, zstd, gzip, none) xz.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

output="$(mkdir -p "${1:-dist}" && cd "${1:-dist}" && pwd)"
export PACKAGE_VERSION="${PACKAGE_VERSION:-$(project_version)}"
export PACKAGE_MAINTAINER="${PACKAGE_MAINTAINER:-The Millrace authors <maintainers@millrace.invalid>}"
export PACKAGE_COMPRESSION="${PACKAGE_COMPRESSION:-xz}"
SOURCE_DATE_EPOCH="$(source_date)"
export SOURCE_DATE_EPOCH
# Files of packages may be read by all, whatever this user's own files may.
umask 022
for program in cpack dpkg-shlibdeps patchelf strip; do
  command -v "$program" >/dev/null || die "$program is missing: scripts/deps.sh packages installs what packages need"
done

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
root="$work/root"
home="$root/usr/lib/millrace"
document="$root/usr/share/doc/millrace"
mkdir -p "$work/control" "$root/usr/bin" "$document"

STRIP_PROGRAMS=1 scripts/install.sh "$home"
ln -s ../lib/millrace/bin/millrace "$root/usr/bin/millrace"
scripts/install-reference.sh "$root/usr"

# The service, with the places of the package, and a user that key files can name.
install -D -m 644 deploy/millrace.toml "$root/etc/millrace/millrace.toml"
sed -i 's#"/opt/millrace/models"#"/var/lib/millrace/models"#' "$root/etc/millrace/millrace.toml"
mkdir -p "$root/lib/systemd/system"
for unit in deploy/systemd/*; do
  sed -e '1,/^\[/{/^#/d}' \
    -e 's#/opt/millrace/bin/millrace#/usr/bin/millrace#' \
    -e 's#^Documentation=.*#Documentation=man:millrace-serve(1) man:millrace.toml(5)#' \
    -e 's#^\# A user that exists only while it runs.*#\# Made by systemd-sysusers. It owns no file; keys may be readable for its group.#' \
    -e 's#^DynamicUser=yes#User=millrace\nGroup=millrace\nRemoveIPC=yes#' \
    -e '/^\[Service\]/i # Before there are models, a start is skipped and does not fail.\nConditionDirectoryNotEmpty=/var/lib/millrace/models\n' \
    "$unit" >"$root/lib/systemd/system/$(basename "$unit")"
done
install -D -m 644 deploy/debian/millrace.sysusers "$root/usr/lib/sysusers.d/millrace.conf"
install -D -m 644 deploy/debian/lintian-overrides "$root/usr/share/lintian/overrides/millrace"

# Licences, and the changelogs in the places where the distribution wants them.
install -m 644 README.md THIRD_PARTY.md deploy/debian/copyright "$document/"
scripts/install-licences.sh "$document"
gzip -9n <CHANGELOG.md >"$document/changelog.gz"
gzip -9n >"$document/changelog.Debian.gz" <<CHANGELOG
millrace ($PACKAGE_VERSION-1) unstable; urgency=medium

  * Made by scripts/package-deb.sh; changelog.gz has what changed.

 -- $PACKAGE_MAINTAINER  $(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")
CHANGELOG

# All that is below /etc is configuration that an upgrade keeps.
(cd "$root" && find etc -type f | sed 's#^#/#' | LC_ALL=C sort) >"$work/control/conffiles"
kib="$(du -sk "$root" | cut -f1)"
for script in preinst postinst prerm postrm; do
  sed "s/@INSTALLED_KIB@/$kib/" "deploy/debian/$script" >"$work/control/$script"
  chmod 755 "$work/control/$script"
done
chmod 644 "$work/control/conffiles"
find "$root" -type d -exec chmod 755 {} +

# CPack's own messages are only of use when it fails.
PACKAGE_STAGE="$work" PACKAGE_HOME="$home" cpack --config deploy/debian/CPackConfig.cmake -B "$work/cpack" >"$work/log" 2>&1 || {
  cat "$work/log" >&2
  die "cpack could not make the package; its message is above"
}
package="$(cd "$work/cpack" && echo ./*.deb)"
mv "$work/cpack/$package" "$output/"
say "Debian package: $output/${package#./} ($(du -h "$output/$package" | cut -f1), $((kib / 1024)) MiB installed)"
