# Platen's images: `docker build -t platen:full .` makes the last one, which has everything; with `--target pages`,
# `office` or `latex` a smaller one. scripts/image makes all of them without Docker and without a registry. How to run
# them: docs/deployment.md.

# The Debian packages, and the notices of all licences in them.
FROM rust:1.95-trixie AS build
# For scripts/pandoc; scripts/setup, which scripts/package calls, installs the rest.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends python3-venv \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY . .
# What is compiled stays in the builder's cache, so that a changed line costs a minute and not ten.
RUN --mount=type=cache,target=/usr/local/cargo/registry --mount=type=cache,target=/build/target \
    scripts/package /package

# Only the packages. `--build-context package=FOLDER` puts a folder of ready ones in place of this stage; then nothing is
# compiled.
FROM scratch AS package
COPY --from=build /package /

# Pages of HTML and of front-end builds; Word, Excel and PowerPoint templates are filled. The package names what it
# depends on, scripts/packages.sh what each variant adds. Versions are not pinned: a stable distribution's security
# updates change them.
FROM debian:trixie-slim AS pages
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
# The user is made before the package is installed, which would make it with a number of its own: volumes keep the
# number, so it must be the same in each image. Numbers of system users end at 999 otherwise. The slim base drops all
# documentation but copyright files, and with it the notices of licences that we must hand on. tini is process 1:
# processes that a killed Chromium leaves behind become its children, and it reaps them.
# hadolint ignore=DL3008
RUN --mount=type=bind,from=package,target=/run/package \
    --mount=type=bind,source=scripts/packages.sh,target=/run/packages.sh \
    source /run/packages.sh \
 && groupadd --system --key SYS_GID_MAX=10001 --gid 10001 platen \
 && useradd --system --key SYS_UID_MAX=10001 --uid 10001 --gid platen --no-create-home --home-dir /var/lib/platen \
      --shell /usr/sbin/nologin platen \
 && echo 'path-include=/usr/share/doc/platen*/*' >/etc/dpkg/dpkg.cfg.d/platen \
 && apt-get update \
 && apt-get install --yes --no-install-recommends /run/package/platen_*.deb "${password_packages[@]}" tini \
 && rm -rf /var/lib/apt/lists/*
ENV PLATEN__HTTP__BIND=0.0.0.0:8080 \
    PLATEN__STORAGE__DATA_DIR=/var/lib/platen
USER 10001:10001
VOLUME /var/lib/platen
EXPOSE 8080
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s CMD ["platen", "doctor", "--running"]
ENTRYPOINT ["/usr/bin/tini", "--", "platen"]
CMD ["serve"]

# Adds LibreOffice, which makes pages of Office documents.
FROM pages AS office
USER root
# hadolint ignore=DL3008
RUN --mount=type=bind,source=scripts/packages.sh,target=/run/packages.sh \
    source /run/packages.sh \
 && apt-get update \
 && apt-get install --yes --no-install-recommends "${office_packages[@]}" \
 && rm -rf /var/lib/apt/lists/*
USER 10001:10001

# Adds TeX, which makes pages of LaTeX, and pandoc, which makes HTML and Word documents of it.
FROM pages AS latex
USER root
# hadolint ignore=DL3008
RUN --mount=type=bind,from=package,target=/run/package \
    --mount=type=bind,source=scripts/packages.sh,target=/run/packages.sh \
    source /run/packages.sh \
 && apt-get update \
 && apt-get install --yes --no-install-recommends "${latex_packages[@]}" /run/package/platen-pandoc_*.deb \
 && rm -rf /var/lib/apt/lists/*
USER 10001:10001

# Both. The last stage is the one built by default.
FROM latex AS full
USER root
# hadolint ignore=DL3008
RUN --mount=type=bind,source=scripts/packages.sh,target=/run/packages.sh \
    source /run/packages.sh \
 && apt-get update \
 && apt-get install --yes --no-install-recommends "${office_packages[@]}" \
 && rm -rf /var/lib/apt/lists/*
USER 10001:10001
