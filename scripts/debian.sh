# What scripts/image and scripts/check-platform share: a bare Debian of today, packages that scripts/package made, and the
# times that a service may take there. To be read by `source`, with the root of the checkout as the folder.
# shellcheck shell=bash disable=SC2034

mirror=http://deb.debian.org/debian
security_mirror=http://deb.debian.org/debian-security
ready_timeout_s=60
# More than http.shutdown_grace_s (30).
stop_timeout_s=45
# Its last lines are told when a script fails.
service_log=''

say() { printf '%s: %s\n' "${BASH_SOURCE[-1]##*/}" "$*" >&2; }

fail() {
  say "$@"
  if [ -s "$service_log" ]; then
    say "the last lines of the service's log:"
    tail -n 20 "$service_log" >&2
  fi
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# install_tools TOOL…: installs what is missing of these programs.
install_tools() {
  local tool missing=()
  for tool in "$@"; do
    have "$tool" && continue
    case $tool in
      pdftotext) missing+=(poppler-utils) ;;
      nsenter) missing+=(util-linux) ;;
      *) missing+=("$tool") ;;
    esac
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  have apt-get || fail "these are missing: ${missing[*]}"
  say "installing ${missing[*]}"
  apt-get update -qq || say "apt-get update failed; trying with the package lists that are there"
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends -o DPkg::Lock::Timeout=300 \
    "${missing[@]}" >&2 || fail "apt-get could not install: ${missing[*]}"
}

# bare_debian SUITE ROOT LOG [OPTION…]: the smallest Debian, made in the folder ROOT by debootstrap with these options. Its
# sources have the suite's updates and security updates, and for Debian 12 the backports, which have its LibreOffice.
bare_debian() {
  local suite=$1 root=$2 log=$3 suites="$1 $1-updates" keyring=/usr/share/keyrings/debian-archive-keyring.pgp
  [ "$suite" != bookworm ] || suites+=" bookworm-backports"
  debootstrap --variant=minbase "${@:4}" "$suite" "$root" "$mirror" >"$log" 2>&1 ||
    fail "debootstrap failed: $(tail -n 3 "$log")"
  # Its name in Debian 12.
  [ -e "$root$keyring" ] || keyring=${keyring%.pgp}.gpg
  rm "$root/etc/apt/sources.list"
  cat >"$root/etc/apt/sources.list.d/debian.sources" <<SOURCES
Types: deb
URIs: $mirror
Suites: $suites
Components: main
Signed-By: $keyring

Types: deb
URIs: $security_mirror
Suites: $suite-security
Components: main
Signed-By: $keyring
SOURCES
  # No package's script starts a service: there is no systemd.
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
  chmod 755 "$root/usr/sbin/policy-rc.d"
}

# package_file FOLDER NAME: the file of that package among those of scripts/package.
package_file() {
  local found=("$1/$2"_*.deb)
  [ -e "${found[0]}" ] || fail "$1 has no $2_….deb; scripts/package makes it"
  [ ${#found[@]} -eq 1 ] || fail "$1 has several of $2: ${found[*]}"
  printf '%s' "${found[0]}"
}
