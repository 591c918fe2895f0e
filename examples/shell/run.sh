#!/bin/sh
# A contract that adds up its integer parameters and keeps the sum. The node runs this file for each
# transaction: COMMAND is CREATE or CALL, TX the transaction as JSON. The last line of the output is
# a JSON list of the entries to store. Exit code 3 refuses the transaction, and the last line then
# says why. The node writes stderr to its own log, at level debug.
set -eu

refuse() {
  echo "$1"
  exit 3
}

# Values of all integer parameters, one a line.
integers() {
  printf '%s' "$TX" | grep -o '"type":"integer","value":-\{0,1\}[0-9]*' | sed 's/.*://'
}

case "$COMMAND" in
CREATE)
  echo '[{"key":"sum","type":"integer","value":0}]'
  ;;
CALL)
  numbers=$(integers)
  [ -n "$numbers" ] || refuse 'a call needs integer parameters'
  sum=0
  for number in $numbers; do
    # The shell computes with 64 bits; longer numbers would wrap around.
    [ "${#number}" -le 18 ] || refuse "$number has too many digits"
    sum=$((sum + number))
  done
  echo "[{\"key\":\"sum\",\"type\":\"integer\",\"value\":$sum}]"
  ;;
*)
  refuse "unknown command $COMMAND"
  ;;
esac
