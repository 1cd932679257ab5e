//! Where the Runtime Interface Emulator is.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The emulator that `scripts/aws-tools.sh` has installed, or `None` before that.
///
/// It binds all addresses unless told otherwise; give it both `--runtime-interface-emulator-address 127.0.0.1:PORT`
/// and `--runtime-api-address 127.0.0.1:PORT`.
pub fn runtime_interface_emulator() -> Option<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if !workspace.join(".tools/aws/installed").exists() {
        return None;
    }
    let found = Command::new(workspace.join("scripts/aws-tools.sh")).arg("--rie").output().ok()?;
    let path = PathBuf::from(String::from_utf8(found.stdout).ok()?.trim_end());
    path.is_file().then_some(path)
}
