#!/bin/sh
# The program of the fake engine: reads a document from stdin and writes what becomes of it to stdout.
case "$1" in
  set) printf '%%PDF-fake\n'; tr a-z A-Z ;;
  outline) cat; printf '\noutline' ;;
  pictures) printf 'picture of '; cat ;;
  version) echo 'press, version 2.1.7' ;;
  *) echo "press: no such order: $1" >&2; exit 2 ;;
esac
