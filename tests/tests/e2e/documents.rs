//! What the documents say about the tests is so, and nothing is left out of them without a word.

use std::path::{Path, PathBuf};

/// The section of docs/reliability.md that names a test for each failure of other systems.
const SECTION: &str = "## Failures of other systems";

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Every file of Rust below `dir`, with its path from the top.
fn sources(dir: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "node_modules" && name != "target" {
            sources(&path, found);
        } else if name.ends_with(".rs") {
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

/// Every other command of cargo would put a stale one right, and whatever looks at it afterwards finds it good.
#[test]
fn the_lock_file_is_looked_at_before_anything_else() {
    let text = |file: &str| std::fs::read_to_string(top().join(file)).unwrap();
    let (ci, makefile) = (text(".ci/run"), text("Makefile"));
    assert_eq!(ci.lines().find(|line| line.starts_with("make ")), Some("make check"));
    let check = makefile.split("\ncheck:").nth(1).unwrap();
    let first = check.lines().skip(1).find(|line| !line.starts_with("\t@#")).unwrap();
    assert!(first.contains("$(CARGO) metadata --locked "), "{first}");
}

/// A test that returns early is reported as passed; one that is ignored is counted as such.
#[test]
fn a_test_that_is_not_run_says_so() {
    let mut files = Vec::new();
    sources(&top().join("shared"), &mut files);
    sources(&top().join("tests"), &mut files);
    for (path, text) in files {
        for (n, _) in text.match_indices("env::var") {
            let after: String = text[n..].chars().take(160).filter(|c| !c.is_whitespace()).collect();
            let condition = after.split_once('{').map(|(condition, then)| (condition.len(), then));
            let returns = condition.is_some_and(|(length, then)| length < 80 && then.starts_with("return;"));
            assert!(!returns, "{path} returns where a variable is not set: use #[ignore = \"how to run it\"]");
        }
    }
}

/// Tests run in another directory than the reader's, where a path from the top leads nowhere.
#[test]
fn a_program_that_tests_are_given_is_named_by_its_whole_path() {
    let mut named = 0;
    for document in std::fs::read_dir(top().join("docs")).unwrap().map(|entry| entry.unwrap().path()) {
        let Ok(text) = std::fs::read_to_string(&document) else { continue };
        for command in text.lines().filter(|line| line.contains("TANDEM_BIN=") && line.contains("cargo test")) {
            assert!(command.contains("TANDEM_BIN=\"$PWD/"), "{}: {command}", document.display());
            named += 1;
        }
    }
    assert!(named > 0);
}
