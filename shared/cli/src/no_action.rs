//! An action that there is not, told with those that there are.

use tandem_actions::near;

use crate::output::BadUsage;

/// Most names that are suggested for an unknown one.
const MOST: usize = 3;

/// There is no action of this name among those that there are.
pub(crate) fn no_action<'a>(name: &str, names: impl Iterator<Item = &'a str> + Clone) -> BadUsage {
    let like = near(name, names.clone());
    let like = &like[..like.len().min(MOST)];
    let meant = if like.is_empty() { String::new() } else { format!("; did you mean {}?", like.join(" or ")) };
    let stop = if meant.is_empty() { "." } else { "" };
    let there: Vec<&str> = names.collect();
    let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
    BadUsage::new(format!("there is no action {name:?}{meant}{stop} There are: {there}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_action_is_told_with_those_that_there_are() {
        let names = ["list-emails", "read-email", "email"];
        for (name, told) in [
            ("list_email", "there is no action \"list_email\"; did you mean list-emails? "),
            ("Read-Emails", "there is no action \"Read-Emails\"; did you mean read-email? "),
            ("xyz", "there is no action \"xyz\". "),
        ] {
            let want = format!("{told}There are: list-emails, read-email, email");
            assert_eq!(no_action(name, names.into_iter()).to_string(), want);
        }
        assert!(no_action("x", [].into_iter()).to_string().ends_with("There are: none"));
    }
}
