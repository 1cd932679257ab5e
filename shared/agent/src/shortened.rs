//! Long results, for the model: the beginning, and where the whole is. The log and people have it all.

use tandem_protocol::ToolCallId;

/// Longest result that a model is given, in bytes: about twelve thousand tokens, in every request of the turn.
const MAX_RESULT: usize = 48 * 1024;

/// The result, or its beginning with a note that names the whole.
pub(crate) fn shortened(result: String, call: &ToolCallId) -> String {
    if result.len() <= MAX_RESULT {
        return result;
    }
    let end = (0..=MAX_RESULT).rev().find(|at| result.is_char_boundary(*at)).unwrap_or(0);
    let (shown, whole) = (&result[..end], result.len());
    format!(
        "{shown}\n[Cut here, after {end} of {whole} bytes. The whole is the stored result of the call {call}, which people \
         see. To read more, call again and ask for less at a time.]"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_result_is_cut_between_characters_and_names_the_whole() {
        let call = ToolCallId::new("call_7").unwrap();
        let fits = "x".repeat(MAX_RESULT);
        assert_eq!(shortened(fits.clone(), &call), fits);
        let long = format!("x{}", "ü".repeat(MAX_RESULT / 2));
        let cut = shortened(long.clone(), &call);
        let (shown, note) = cut.split_once('\n').unwrap();
        assert!(long.starts_with(shown) && shown.len() == MAX_RESULT - 1, "{}", shown.len());
        assert!(note.contains("call_7") && note.contains(&long.len().to_string()), "{note}");
    }
}
