# The Debian packages that Platen uses: scripts/setup installs them, scripts/package writes them into the package's
# dependencies. To be read by `source`.
# shellcheck shell=bash disable=SC2034

# Without these no page is rendered.
run_packages=(
  chromium-headless-shell ca-certificates
  fontconfig fonts-liberation fonts-dejavu-core fonts-noto-core fonts-noto-color-emoji
  fonts-noto-cjk fonts-lmodern fonts-open-sans
)
# PDFs with a password.
password_packages=(qpdf)
# Without libreoffice-math formulas are blank; without libreoffice-uiconfig-writer, on which none of these depends, no
# document with a comment is read. Carlito and Caladea have the metrics of Calibri and Cambria, as Liberation
# (above) has those of Arial, Times New Roman and Courier New.
office_packages=(
  libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui libreoffice-math-nogui
  libreoffice-uiconfig-writer
  fonts-crosextra-caladea fonts-crosextra-carlito
)
# The version that Platen is measured and tested with. Debian 12 has 7.4, and this one in its backports.
oldest_libreoffice=4:25.2
# Without cm-super the usual font in the encoding T1 would be a bitmap font, made by scripts that no document may start.
# Languages whose packages bring fonts of other scripts are left out: Chromium would use those fonts for pages.
latex_packages=(
  texlive-latex-recommended texlive-latex-extra texlive-pictures texlive-science
  texlive-luatex texlive-xetex texlive-plain-generic texlive-publishers
  texlive-fonts-recommended lmodern cm-super
  texlive-bibtex-extra biber
  texlive-lang-cyrillic texlive-lang-european texlive-lang-french texlive-lang-german texlive-lang-italian
  texlive-lang-polish texlive-lang-portuguese texlive-lang-spanish
)
# What building needs, besides Rust, a C compiler, npm and Python.
build_packages=(libjavascriptcoregtk-6.0-dev pkg-config)
# What the commands of the documentation look into PDFs with.
reading_packages=(poppler-utils)
