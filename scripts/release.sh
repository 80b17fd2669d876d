#!/usr/bin/env bash
# Makes all that a release consists of in dist/: the sources, the Debian package, the wheel, Homebrew's formula, a bill of materials, and
# SHA256SUMS; with WITH_IMAGE=1 also the container image. RELEASE_URL is where the files will be, for the formula.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

is_macos && die "make release is for Linux"
version="$(project_version)"
if [ -z "${ALLOW_CHANGES:-}" ] && [ -n "$(git status --porcelain)" ]; then
  die "the checkout has changes that are not committed, which the archive of the sources would not have" \
    "commit them, or for a trial: ALLOW_CHANGES=1 make release"
fi

scripts/deps.sh serve packages
scripts/build.sh millrace millrace_reference
rm -rf dist
mkdir dist

archive="millrace-$version.tar.gz"
git archive --format=tar --prefix="millrace-$version/" HEAD | gzip -9n >"dist/$archive"
say "sources: dist/$archive ($(du -h "dist/$archive" | cut -f1))"
scripts/package-deb.sh dist
scripts/package-wheel.sh dist
"$VENV/bin/python" scripts/write_sbom.py "$version" "$(source_date)" >"dist/millrace-$version.cdx.json"
scripts/write-formula.sh "dist/$archive" "${RELEASE_URL:-https://releases.millrace.invalid}" >dist/millrace.rb
if [ -n "${WITH_IMAGE:-}" ]; then
  scripts/models.sh
  scripts/package-image.sh dist/*.deb "millrace:$version"
  podman save -q --format oci-archive -o "dist/millrace-$version-image.tar" "millrace:$version"
fi

(cd dist && sha256sum -- * >../dist.sums && mv ../dist.sums SHA256SUMS)
say "release $version: $(find dist -type f | wc -l) files in dist/, to be checked with: cd dist && sha256sum -c SHA256SUMS"
