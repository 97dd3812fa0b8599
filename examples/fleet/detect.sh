#!/bin/sh
# For a device management: does the user who runs this have these clients at the gateway?
#
#   detect.sh https://gateway.example.com codex claude
#
# Ends with 0 where all are there, and with 1 where repoint is missing or a client is elsewhere. Says why in one
# line. Asks no network and changes nothing. REPOINT names the program where it lies in another place.
program=${REPOINT:-/usr/local/bin/repoint}
gateway=$1
shift

if [ ! -x "$program" ]; then
  echo "repoint is not installed"
  exit 1
fi

if said=$("$program" status "$@" --expect "$gateway" 2>&1); then
  echo "$* at $gateway"
else
  reason=$(echo "$said" | grep -m 1 -E 'expected|error' | sed 's/^ *//')
  echo "${reason:-repoint status ended with an error}"
  exit 1
fi
