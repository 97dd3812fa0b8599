#!/bin/sh
# For device management: do these clients of the current user point at the gateway?
#
#   detect.sh https://gateway.example.com codex claude
#
# Exits with 0 if all do, and with 1 if a client does not or repoint is missing. Prints the reason in one line.
# Sends no request and changes nothing. REPOINT is the path of the program if it is not in PATH.
program=${REPOINT:-/usr/local/bin/repoint}
gateway=$1
shift

if [ ! -x "$program" ]; then
  echo "repoint is not installed"
  exit 1
fi

if output=$("$program" status "$@" --expect "$gateway" 2>&1); then
  echo "$* at $gateway"
else
  reason=$(echo "$output" | grep -m 1 -E 'expected|error' | sed 's/^ *//')
  echo "${reason:-repoint status ended with an error}"
  exit 1
fi
