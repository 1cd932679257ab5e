//! What the documents say about the tests is so.

use std::path::{Path, PathBuf};

/// The section of docs/reliability.md that names a test for each failure of other systems.
const SECTION: &str = "## Failures of other systems";

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Every source file below `dir`, with its path from the top.
fn sources(dir: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "node_modules" && name != "target" {
            sources(&path, found);
        } else if name.ends_with(".rs") || name.ends_with(".mjs") {
            let text = std::fs::read_to_string(&path).unwrap();
            found.push((path.strip_prefix(top()).unwrap().to_string_lossy().into_owned(), text));
        }
    }
}

/// Names of tests: ``file.rs: a_test, another_test`` in code, the file by the end of its path.
#[test]
fn every_test_that_is_named_for_a_failure_is_there() {
    let mut files = Vec::new();
    sources(&top().join("shared"), &mut files);
    sources(&top().join("tests"), &mut files);
    let document = std::fs::read_to_string(top().join("docs/reliability.md")).unwrap();
    let section = document.split(SECTION).nth(1).unwrap();
    let mut named = 0;
    for code in section.split('`').skip(1).step_by(2) {
        let Some((file, tests)) = code.split_once(": ").filter(|(file, _)| file.ends_with(".rs")) else { continue };
        let matching: Vec<_> = files.iter().filter(|(path, _)| path.ends_with(&format!("/{file}"))).collect();
        let [(path, text)] = &matching[..] else { panic!("{file} is {} files", matching.len()) };
        for test in tests.split(", ") {
            assert!(text.contains(&format!("fn {test}(")), "{test} is not in {path}");
            named += 1;
        }
    }
    assert!(named > 50, "{named}");
}
