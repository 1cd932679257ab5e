//! Writes the samples as files: `samples DIRECTORY` makes DIRECTORY/<check>/<number>.

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let into = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "corpus".into()));
    for check in tandem_properties::CHECKS {
        let dir = into.join(check.name);
        std::fs::create_dir_all(&dir)?;
        for (n, sample) in (check.samples)().iter().enumerate() {
            std::fs::write(dir.join(n.to_string()), sample)?;
        }
    }
    Ok(())
}
