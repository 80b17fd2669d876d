#!/usr/bin/env bash
# Installs the Helm chart in a control plane of Kubernetes on loopback, whose nodes and pods are played by kwok. The control plane is compiled the first time,
# which takes half an hour on two cores, so `make test` only renders the chart. Needs Go 1.26 on Linux.
# BUILD_LIMIT and TEST_LIMIT are seconds; what was compiled when BUILD_LIMIT ended the build is kept for the next run.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

KUBERNETES=1.34.4
KWOK=0.8.0
KEDA=2.21.0
PROMETHEUS_OPERATOR=0.85.0
BUILD_LIMIT="${BUILD_LIMIT:-5400}"
TEST_LIMIT="${TEST_LIMIT:-1200}"

TOOLS="$ROOT/.tools/kubernetes"
MODULE="$TOOLS/module"

# go.mod of this project and the environment decide nothing here.
export GOFLAGS=-mod=mod GOTOOLCHAIN=local GOWORK=off CGO_ENABLED=0

# The folder of a module's sources in Go's cache.
module_folder() {
  local description
  description="$(cd "$MODULE" && go mod download -json "$1")" || die "go could not download $1" "$description"
  sed -n 's/^\t"Dir": "\(.*\)",$/\1/p' <<<"$description"
}

# Kubernetes' own module cannot be installed by `go install`, because it replaces its libraries by folders of its repository. Here they are
# replaced by the modules as which the same folders are published: v0.34.4 belongs to v1.34.4.
write_module() {
  local source
  mkdir -p "$MODULE"
  printf 'module millrace.invalid/control-plane\n' >"$MODULE/go.mod"
  source="$(module_folder "k8s.io/kubernetes@v$KUBERNETES")"
  {
    printf 'module millrace.invalid/control-plane\n'
    grep -E '^(go|godebug) ' "$source/go.mod"
    printf 'require k8s.io/kubernetes v%s\n' "$KUBERNETES"
    sed -n "s,^[[:space:]]*\(k8s.io/[a-z-]*\) => ./staging/.*,replace \1 => \1 v0.${KUBERNETES#1.},p" "$source/go.mod"
  } >"$MODULE/go.mod.new"
  mv "$MODULE/go.mod.new" "$MODULE/go.mod"
  rm -f "$MODULE/go.sum"
}

# compile <name> <version> <go arguments>: says how many packages were compiled, since a program has up to 2,000 of them.
compile() {
  local name="$1" version="$2" log="$TOOLS/$1.log" left status=0
  shift 2
  stamp_is "$TOOLS/stamps/$name" "$version" && [ -x "$TOOLS/bin/$name" ] && return
  left=$((BUILD_LIMIT - SECONDS))
  [ "$left" -gt 0 ] || die "the build was ended after BUILD_LIMIT, $BUILD_LIMIT s, before $name" "run the same command again to go on from here"
  say "$name $version"
  (cd "$MODULE" && timeout "$left" go "$@") 2>&1 | tee "$log" | awk 'NR % 100 == 0 { print "    " NR " packages"; fflush() }' || status=$?
  [ "$status" != 124 ] || die "the build was ended after BUILD_LIMIT, $BUILD_LIMIT s, in $name" "run the same command again to go on from here"
  [ "$status" = 0 ] || die "go could not compile $name $version" "$(tail -n 20 "$log")"
  write_stamp "$TOOLS/stamps/$name" "$version"
}

control_plane() {
  local version=k8s.io/component-base/version name etcd
  if ! stamp_is "$TOOLS/stamps/module" "$KUBERNETES"; then
    say "Kubernetes $KUBERNETES: sources"
    write_module
    write_stamp "$TOOLS/stamps/module" "$KUBERNETES"
  fi
  for name in kube-apiserver kube-controller-manager kube-scheduler; do
    compile "$name" "$KUBERNETES" build -v -p "$(jobs)" -trimpath \
      -ldflags "-s -w -X $version.gitVersion=v$KUBERNETES -X $version.gitMajor=1 -X $version.gitMinor=$(cut -d. -f2 <<<"$KUBERNETES")" \
      -o "$TOOLS/bin/$name" "k8s.io/kubernetes/cmd/$name"
  done
  # The release that the API server's own libraries belong to. Debian's etcd, 3.4, lacks what newer clients of the API ask for.
  etcd="$(cd "$MODULE" && go list -m -f '{{.Version}}' go.etcd.io/etcd/server/v3)"
  compile etcd "${etcd#v}" build -v -p "$(jobs)" -trimpath -ldflags "-s -w" -o "$TOOLS/bin/etcd" go.etcd.io/etcd/server/v3
  GOBIN="$TOOLS/bin" GOFLAGS='' compile kwok "$KWOK" install -v -p "$(jobs)" -trimpath -ldflags "-s -w" "sigs.k8s.io/kwok/cmd/kwok@v$KWOK"
}

# Copies the stages that kwok's nodes and pods go through, and the definitions of the chart's objects that are not Kubernetes' own. KServe's
# module cannot be downloaded in this way.
definitions() {
  local versions="$KWOK $KEDA $PROMETHEUS_OPERATOR" folder stage
  stamp_is "$TOOLS/stamps/definitions" "$versions" && return
  say "definitions of kwok, KEDA $KEDA and the Prometheus operator $PROMETHEUS_OPERATOR"
  rm -rf "$TOOLS/definitions"
  mkdir -p "$TOOLS/definitions"
  folder="$(module_folder "sigs.k8s.io/kwok@v$KWOK")/kustomize/stage"
  for stage in node/fast/node-initialize node/heartbeat-with-lease/node-heartbeat-with-lease pod/fast/pod-ready pod/fast/pod-delete; do
    echo ---
    cat "$folder/$stage.yaml"
  done >"$TOOLS/stages.yaml"
  folder="$(module_folder "github.com/kedacore/keda/v2@v$KEDA")"
  cp "$folder/config/crd/bases/keda.sh_scaledobjects.yaml" "$TOOLS/definitions/"
  folder="$(module_folder "github.com/prometheus-operator/prometheus-operator@v$PROMETHEUS_OPERATOR")"
  cp "$folder/example/prometheus-operator-crd/monitoring.coreos.com_"{servicemonitors,prometheusrules}.yaml "$TOOLS/definitions/"
  chmod -R u+w "$TOOLS/definitions"
  write_stamp "$TOOLS/stamps/definitions" "$versions"
}

python_packages() {
  local file=scripts/requirements/kubernetes.txt hash
  hash="$(hash_of "$file")"
  stamp_is "$TOOLS/venv/stamp" "$hash" && return
  say "Python packages: kubectl and Kubernetes' client"
  rm -rf "$TOOLS/venv"
  "$VENV/bin/python" -m venv "$TOOLS/venv"
  "$TOOLS/venv/bin/python" -m pip install --disable-pip-version-check -q -r "$file" || die "pip could not install: $(grep -v '^#' "$file" | tr '\n' ' ')"
  write_stamp "$TOOLS/venv/stamp" "$hash"
}

if is_macos; then die "check-kubernetes.sh needs Linux: kubectl and helm come as programs of Linux"; fi
command -v go >/dev/null || die "Go 1.26 or newer is missing: it compiles Kubernetes' control plane"
scripts/deps.sh kubernetes
python_packages
control_plane
definitions

say "pytest tests/cluster (logs in var/cluster)"
# An interrupt, unlike a termination, lets the tests stop the programs that they started.
status=0
timeout --foreground --signal INT --kill-after 60 "$TEST_LIMIT" "$TOOLS/venv/bin/python" -m pytest -q --basetemp "$ROOT/var/cluster" tests/cluster "$@" || status=$?
[ "$status" != 124 ] || die "the tests were ended after TEST_LIMIT, $TEST_LIMIT s"
exit "$status"
