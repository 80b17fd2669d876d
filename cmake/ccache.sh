#!/bin/sh
# Compiles by way of ccache: the compiler launcher of all targets. Usage: ccache.sh COMPILER [OPTION...]
#
# A precompiled header of clang holds the paths and times of what it was made from, so it differs between two checkouts, and ccache would
# find nothing that was compiled with it. It is therefore always compiled, which takes seconds, and ccache is given its preprocessed text in
# place of its contents (a file named .sum beside it), with all macros, which are part of the header.
set -eu

output=""
previous=""
precompile=no
count=$#
while [ "$count" -gt 0 ]; do
  argument=$1
  shift
  count=$((count - 1))
  if [ "$argument" = -Xclang ] && [ "${1:-}" = -emit-pch ]; then
    precompile=yes
    shift
    count=$((count - 1))
    continue
  fi
  case $argument in
    # ccache itself makes no path relative that follows -Xclang.
    "$PWD"/*/cmake_pch.hxx*) argument=${argument#"$PWD"/} ;;
  esac
  [ "$previous" != -o ] || output=$argument
  previous=$argument
  set -- "$@" "$argument"
done

if [ "$precompile" = yes ]; then
  # The last -o is the one that counts.
  "$@" -E -dD -P -o "$output.sum"
  exec "$@" -Xclang -emit-pch
fi
# Precompiled headers need this sloppiness; the inode cache spares ccache reading their hundreds of megabytes at each compilation.
export CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_INODECACHE=true CCACHE_PCH_EXTSUM=true
exec ccache "$@"
