//! What a model costs.
//!
//! `MODEL_PRICES` is a comma list of `model=input/output` or `model=input/output/cached`, in dollars per million tokens,
//! with the names of `MODEL` and `MODELS`: `anthropic/claude-x=3/15/0.30,openai/gpt-y=1.25/10`. Without a price of their own
//! tokens from a provider's cache cost what others do.

use tandem_protocol::Usage;

/// Prices of one token, in nano-dollars: a dollar per million tokens is a thousand of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    pub input: u64,
    pub output: u64,
    pub cached: u64,
}

impl Price {
    /// What an answer cost, in nano-dollars. `input_tokens` hold the cached ones.
    pub fn of(&self, usage: &Usage) -> u64 {
        let cached = usage.cached_input_tokens.min(usage.input_tokens);
        let fresh = usage.input_tokens - cached;
        fresh
            .saturating_mul(self.input)
            .saturating_add(cached.saturating_mul(self.cached))
            .saturating_add(usage.output_tokens.saturating_mul(self.output))
    }

    /// Reads `model=input/output/cached`; none: it is no such thing.
    pub(crate) fn parse(text: &str) -> Option<(String, Price)> {
        let (model, prices) = text.rsplit_once('=')?;
        let prices: Vec<u64> = prices.split('/').map(nano).collect::<Option<_>>()?;
        let price = match prices[..] {
            [input, output] => Price { input, output, cached: input },
            [input, output, cached] => Price { input, output, cached },
            _ => return None,
        };
        let model = model.trim();
        (!model.is_empty()).then(|| (model.to_owned(), price))
    }
}

/// Dollars per million, exact to three places.
fn nano(text: &str) -> Option<u64> {
    let (whole, part) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(part) || part.len() > 3 {
        return None;
    }
    let whole: u64 = whole.parse().ok().filter(|whole| *whole <= 1_000_000)?;
    let part: u64 = format!("{part:0<3}").parse().ok()?;
    Some(whole * 1000 + part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_read_exactly_or_not_at_all() {
        let price = |input, output, cached| Price { input, output, cached };
        for (text, want) in [
            ("scripted=1/2", Some(("scripted", price(1000, 2000, 1000)))),
            (" anthropic/c-5=3/15/0.3 ", Some(("anthropic/c-5", price(3000, 15_000, 300)))),
            ("openai/x=y=0.075/.6", None),
            ("openai/x=y=0.075/0.6", Some(("openai/x=y", price(75, 600, 75)))),
            ("a=0/0", Some(("a", price(0, 0, 0)))),
            ("a=1", None),
            ("a=1/2/3/4", None),
            ("a=1/-2", None),
            ("a=1/0.0001", None),
            ("a=1/1e3", None),
            ("a=1/99999999", None),
            ("=1/2", None),
            ("a", None),
        ] {
            let read = Price::parse(text);
            assert_eq!(read, want.map(|(model, price)| (model.to_owned(), price)), "{text}");
        }
    }

    #[test]
    fn cached_tokens_are_part_of_the_input() {
        let price = Price { input: 1000, output: 5000, cached: 100 };
        let usage = Usage { input_tokens: 50, output_tokens: 10, cached_input_tokens: 40, reasoning_tokens: 8 };
        assert_eq!(price.of(&usage), 10 * 1000 + 40 * 100 + 10 * 5000);
        let odd = Usage { input_tokens: 5, cached_input_tokens: 40, ..Usage::default() };
        assert_eq!(price.of(&odd), 500, "a provider that counts otherwise costs nothing below zero");
        let much = Usage { input_tokens: u64::MAX, output_tokens: u64::MAX, ..Usage::default() };
        assert_eq!(price.of(&much), u64::MAX);
    }
}
