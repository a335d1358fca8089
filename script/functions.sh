# Sourced by the scripts beside it: what more than one of them needs.
# shellcheck shell=bash

# The system's python3: the Debian packages (pytest and others) belong to it, not to whatever PATH names first.
# shellcheck disable=SC2034
python=/usr/bin/python3

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

usage_error() {
  printf '%s: %s\n%s\n' "${0##*/}" "$1" "$2" >&2
  exit 2
}

# Runs a command; its output is shown only if it fails.
quietly() {
  local log status=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 || status=$?
  [ "$status" = 0 ] || cat "$log" >&2
  rm -f "$log"
  return "$status"
}
