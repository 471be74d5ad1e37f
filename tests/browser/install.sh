#!/bin/sh
# Makes sure that there is a Chromium for the browser tests: one that is here, Playwright's own, or the
# distribution's; and axe-core, from npm. Says so if one cannot be had; it never fails.
playwright=${1:-playwright}
here=$(dirname "$0")
if [ ! -f "$here/node_modules/axe-core/axe.min.js" ]; then
  (cd "$here" && npm install --silent --no-audit --no-fund --no-package-lock >/dev/null 2>&1) ||
    echo "axe-core could not be had from npm, so the accessibility tests are skipped"
fi
for name in chromium chromium-browser google-chrome; do
  command -v "$name" >/dev/null 2>&1 && exit 0
done
log=$(mktemp)
if timeout 600 "$playwright" install chromium >"$log" 2>&1; then
  rm -f "$log"
  exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "installing Chromium for the browser tests (once)"
  if apt-get update -qq >>"$log" 2>&1 &&
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      chromium fonts-dejavu-core >>"$log" 2>&1; then
    rm -f "$log"
    exit 0
  fi
fi
echo "no Chromium could be installed, so the browser tests are skipped; see $log, or install it by hand"
