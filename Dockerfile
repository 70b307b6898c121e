# Platen's images: `docker build -t platen .` makes the last one, which has everything; with `--target pages` or
# `--target office` a smaller one. How to run it: docs/deployment.md.

FROM rust:1.95-trixie AS build
# Versions are not pinned: a stable distribution's security updates change them.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends libjavascriptcoregtk-6.0-dev npm pkg-config \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /build
# The template engine and the parser of its expressions, which build.rs embeds in the program.
COPY assets/package.json assets/package-lock.json assets/
RUN npm ci --prefix assets --omit=dev --ignore-scripts --no-audit --no-fund
COPY Cargo.toml Cargo.lock build.rs ./
COPY assets assets
COPY config config
COPY crates crates
COPY src src
# What is compiled stays in the builder's cache, so that a changed line costs a minute and not ten.
RUN --mount=type=cache,target=/usr/local/cargo/registry --mount=type=cache,target=/build/target \
    cargo build --release --locked --bins \
 && cp target/release/platen target/release/platen-script /usr/local/bin/

# Pages of HTML and of front-end builds; Word templates are filled.
FROM debian:trixie-slim AS pages
# Fonts for Latin, Greek, Cyrillic, Arabic and most other scripts, Chinese, Japanese, Korean, emoji, formulas.
# fontconfig writes their cache here, once, or Chromium would in each new profile. tini is process 1: processes that
# a killed Chromium leaves behind become its children, and it reaps them.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends \
      ca-certificates chromium-headless-shell fontconfig libjavascriptcoregtk-6.0-1 qpdf tini \
      fonts-dejavu-core fonts-liberation fonts-lmodern fonts-noto-cjk fonts-noto-color-emoji \
      fonts-noto-core fonts-open-sans \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --system --gid 10001 platen \
 && useradd --system --uid 10001 --gid platen --no-create-home --home-dir /nonexistent \
      --shell /usr/sbin/nologin platen \
 && install --directory --owner=platen --group=platen --mode=0700 /var/lib/platen
COPY --from=build /usr/local/bin/platen /usr/local/bin/platen-script /usr/local/bin/
ENV PLATEN__HTTP__BIND=0.0.0.0:8080 \
    PLATEN__STORAGE__DATA_DIR=/var/lib/platen
USER 10001:10001
VOLUME /var/lib/platen
EXPOSE 8080
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s CMD ["platen", "doctor", "--running"]
ENTRYPOINT ["/usr/bin/tini", "--", "platen"]
CMD ["serve"]

# Adds LibreOffice, which makes pages of Office documents. Without libreoffice-math formulas are blank, without
# libreoffice-uiconfig-writer no document with a comment is read.
FROM pages AS office
USER root
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends \
      libreoffice-calc-nogui libreoffice-impress-nogui libreoffice-math-nogui libreoffice-uiconfig-writer \
      libreoffice-writer-nogui \
      fonts-crosextra-caladea fonts-crosextra-carlito \
 && rm -rf /var/lib/apt/lists/*
USER 10001:10001

# pandoc, of which Debian's own is too old.
FROM debian:trixie-slim AS pandoc
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates python3-venv \
 && rm -rf /var/lib/apt/lists/*
COPY scripts/pandoc scripts/pandoc.txt /build/scripts/
RUN /build/scripts/pandoc /pandoc

# Adds pandoc, which makes HTML and Word documents of LaTeX; programs of further engines belong here. The last stage is the
# one built by default.
FROM office AS full
COPY --from=pandoc /pandoc /usr/local/lib/platen
