#!/bin/sh
# The program of the fake engine: `press ORDER IN OUT` makes the file OUT of the file IN and prints how many page breaks
# there are in it.
case "$1" in
  version) echo 'press, version 2.1.7'; exit 0 ;;
  set) { printf '%%PDF-fake\n'; tr a-z A-Z <"$2"; } >"$3" ;;
  outline) { cat "$2"; printf '\noutline'; } >"$3" ;;
  pictures) { printf 'picture of '; cat "$2"; } >"$3" ;;
  *) echo "press: no such order: $1" >&2; exit 2 ;;
esac
case "$(tr a-z A-Z <"$2")" in
  *SLOW*) i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done ;;
  *HANG*) while :; do :; done ;;
  *PEEK*) cat /etc/hostname >>"$3" 2>&1 ;;
esac
tr -cd '\f' <"$3" | wc -c
