//! Words that were meant, perhaps: for the registry, and for programs that tell people what there is.

/// How alike a wrong and a right word must be for the right one to be suggested.
const LIKE: f64 = 0.75;

/// Those of `words` that are like `word`, the likest first. Capitals make no difference, nor does `_` for `-`.
pub fn near<'a>(word: &str, words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let plain = |word: &str| word.to_lowercase().replace('_', "-");
    let meant = plain(word);
    let mut near: Vec<(f64, &str)> = words
        .map(|other| (strsim::jaro_winkler(&meant, &plain(other)), other))
        .filter(|(likeness, _)| *likeness > LIKE)
        .collect();
    near.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    near.into_iter().map(|(_, word)| word).collect()
}
