#!/usr/bin/env bash
# Makes the packages of a release and tries each as a new user would: the Debian package in a bare Debian, the wheel in a fresh environment,
# the container image and the Helm chart's pod with podman. Needs root and the package archive; takes minutes.
# Usage: check-packages.sh [debian] [wheel] [image]
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

is_macos && die "check-packages.sh is for Debian"
[ "$(id -u)" = 0 ] || die "check-packages.sh makes a bare Debian and mounts disks in it, which only root may"
[ $# -gt 0 ] || set -- debian wheel image
parts=" $* "

scripts/deps.sh serve test packages check-packages
scripts/build.sh millrace millrace_reference
scripts/models.sh
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
export MILLRACE_MODELS="$MODELS" PACKAGE_COMPRESSION="${PACKAGE_COMPRESSION:-gzip}"
failed=()
check() {
  say "$1"
  "$VENV/bin/python" -m pytest -q "tests/deploy/$2" || failed+=("$1")
}

case "$parts" in *" debian "* | *" image "*)
  scripts/package-deb.sh "$folder"
  DEBIAN_PACKAGE="$(echo "$folder"/*.deb)"
  export DEBIAN_PACKAGE
  ;;
esac
case "$parts" in *" debian "*) check "the Debian package in a bare Debian" check_debian_install.py ;; esac

case "$parts" in *" wheel "*)
  scripts/package-wheel.sh "$folder"
  WHEEL="$(echo "$folder"/millrace_server-*.whl)"
  MODELS_WHEEL="$(echo "$folder"/millrace_models-*.whl)"
  export WHEEL MODELS_WHEEL
  check "the wheel in a fresh environment" check_wheel.py
  ;;
esac

# A base image as the registries have it, where none can be reached: what debian:12-slim leaves out is left out here.
base_image() {
  podman image exists docker.io/library/debian:12-slim && return
  say "base image: debian:12-slim, by mmdebstrap"
  local options=() name
  for name in doc groff info lintian linda locale man; do options+=("--dpkgopt=path-exclude=/usr/share/$name/*"); done
  # usr-is-merged spares perl, which usrmerge needs.
  # shellcheck disable=SC2016  # mmdebstrap says what $1 is
  mmdebstrap --quiet --mode=root --variant=minbase --include=usr-is-merged --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
    "${options[@]}" --dpkgopt='path-include=/usr/share/doc/*/copyright' \
    --customize-hook='rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/* "$1"/var/log/*' bookworm - |
    podman import -q - docker.io/library/debian:12-slim >/dev/null
}
# Machines that are containers themselves may neither raise their limits nor have cgroups that podman's own choice, crun, can use.
podman_settings() {
  printf '[engine]\nruntime = "runc"\n[containers]\ndefault_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]\n' >"$folder/containers.conf"
  export CONTAINERS_CONF="$folder/containers.conf"
}
case "$parts" in *" image "*)
  podman_settings
  base_image
  export IMAGE=localhost/millrace-check
  IMAGE_BUILD_OPTIONS="--pull=never --network=host" scripts/package-image.sh "$DEBIAN_PACKAGE" "$IMAGE"
  check "the container image" check_image.py
  check "the pod of the Helm chart" check_chart.py
  ;;
esac

[ ${#failed[@]} -eq 0 ] || die "failed: ${failed[*]}"
say "all packages work"
