#!/usr/bin/env bash
# Makes the container image from a Debian package of this build and from var/models, as deploy/container/Containerfile does from sources.
# Usage: package-image.sh PACKAGE.deb [IMAGE]    (default: millrace)
# IMAGE_BUILD_OPTIONS are options of `podman build`, such as --network=host or --pull=never.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

package="${1:?package-image.sh: a Debian package is needed, as scripts/package-deb.sh makes it}"
image="${2:-millrace}"
command -v podman >/dev/null || die "podman is missing: apt-get install podman"
[ -f "$package" ] || die "$package is missing"
[ -d "$MODELS" ] || die "the demo models are missing: run make models"

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/package"
cp "$package" "$work/package/"
cp -rL "$MODELS" "$work/package/models"
# These are of this machine and this program.
find "$work/package/models" -name 'packed-*.weights*' -delete
find "$work/package/models" -type d -exec chmod 755 {} + -o -type f -exec chmod 644 {} +
printf 'FROM scratch\nCOPY package /package\n' >"$work/Containerfile"
podman build -q -t millrace-package "$work" >/dev/null || die "podman could not pack the models; its message is above"
# Only images in the format docker have health checks.
# shellcheck disable=SC2086  # several options
podman build --format docker ${IMAGE_BUILD_OPTIONS:-} -t "$image" --build-arg PACKAGE=localhost/millrace-package -f deploy/container/Containerfile . ||
  die "podman could not build the image; its message is above"
podman rmi millrace-package >/dev/null || note "the image millrace-package is left: podman rmi millrace-package"
say "image: $image ($(podman image inspect "$image" --format '{{.Size}}' | awk '{ printf "%.0f MB", $1 / 1e6 }'))"
