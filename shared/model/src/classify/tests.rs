use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::json;

use super::*;

const PROVIDER: Provider = Provider { name: "acme", credentials: "ACME_KEY", base_url: "ACME_URL" };

fn reply(status: u16, body: &str) -> ProviderError {
    match status {
        0 => ProviderError::from_provider_body(body),
        _ => ProviderError::from_http_response(StatusCode::from_u16(status).unwrap(), body),
    }
}

#[test]
fn each_failure_says_what_the_caller_must_do() {
    let anthropic =
        |kind: &str, message: &str| json!({"type": "error", "error": {"type": kind, "message": message}}).to_string();
    let openai = |code: &str, message: &str| {
        json!({"error": {"message": message, "type": "some_error", "param": null, "code": code}}).to_string()
    };
    // Status 0: in mid-answer.
    for (status, body, want) in [
        (529, anthropic("overloaded_error", "Overloaded"), "overloaded"),
        (503, "upstream unavailable".into(), "overloaded"),
        (0, anthropic("overloaded_error", "Overloaded"), "overloaded"),
        (0, anthropic("api_error", "Internal server error"), "interrupted"),
        (0, anthropic("invalid_request_error", "bad tool"), "permanent"),
        (0, openai("server_error", "The server had an error"), "interrupted"),
        (429, anthropic("rate_limit_error", "30,000 input tokens per minute"), "rate limited"),
        (429, openai("rate_limit_exceeded", "Rate limit reached on tokens per min (TPM)"), "rate limited"),
        (429, openai("rate_limit_exceeded", "Rate limit reached on requests per day (RPD)"), "permanent"),
        (429, openai("rate_limit_exceeded", "Request too large for gpt on tokens per min"), "too long"),
        (429, openai("insufficient_quota", "You exceeded your current quota"), "permanent"),
        (402, anthropic("billing_error", "pay"), "permanent"),
        (400, anthropic("invalid_request_error", "Your credit balance is too low"), "permanent"),
        (400, anthropic("invalid_request_error", "prompt is too long: 210000 tokens > 200000"), "too long"),
        (400, openai("context_length_exceeded", "maximum context length is 128000"), "too long"),
        (413, anthropic("request_too_large", "Request exceeds the maximum size"), "too long"),
        (400, openai("content_filter", "filtered"), "refused"),
        (401, openai("invalid_api_key", "Incorrect API key provided: sk-12***34"), "credentials"),
        (403, anthropic("permission_error", "no access to this model"), "permanent"),
        (404, anthropic("not_found_error", "model: nope"), "permanent"),
        (400, anthropic("invalid_request_error", "max_tokens: must be positive"), "permanent"),
        (500, anthropic("api_error", "Internal server error"), "interrupted"),
        (502, "<html>Bad Gateway</html>".into(), "interrupted"),
        (408, String::new(), "interrupted"),
    ] {
        assert_eq!(classify(&PROVIDER, None, &reply(status, &body)).kind(), want, "{status} {body}");
    }
}

#[test]
fn aws_exceptions_are_told_apart_by_their_name() {
    for (status, code, message, want) in [
        (429, "ThrottlingException", "Too many tokens, please wait before trying again.", "rate limited"),
        (429, "ThrottlingException", "Too many tokens per day, please wait before trying again.", "permanent"),
        (429, "ModelNotReadyException", "The model is not ready", "overloaded"),
        (503, "ServiceUnavailableException", "Bedrock is unable to process your request", "overloaded"),
        (400, "ValidationException", "Input is too long for requested model.", "too long"),
        (400, "ValidationException", "The toolConfig field must be defined", "permanent"),
        (400, "ServiceQuotaExceededException", "quota", "permanent"),
        (403, "AccessDeniedException", "You don't have access to the model", "permanent"),
        (403, "UnrecognizedClientException", "The security token is invalid", "credentials"),
        (403, "ExpiredTokenException", "expired", "credentials"),
        (424, "ModelErrorException", "the model failed", "interrupted"),
        (0, "ThrottlingException", "slow down", "rate limited"),
        (0, "ModelStreamErrorException", "stream", "interrupted"),
        (0, "InternalServerException", "oops", "interrupted"),
        (0, "ValidationException", "Input is too long", "too long"),
    ] {
        let error = reply(status, message).with_provider_code(Some(code.into()));
        assert_eq!(classify(&PROVIDER, None, &error).kind(), want, "{status} {code}");
    }
    let silent = ProviderError::Provider("Bedrock event stream failed (ServiceUnavailableException)".into());
    assert_eq!(classify(&PROVIDER, None, &silent).kind(), "overloaded");
}

#[test]
fn the_provider_names_the_wait_in_seconds_milliseconds_or_as_a_date() {
    for (headers, want) in [
        (vec![("retry-after", "7")], Some(Duration::from_secs(7))),
        (vec![("retry-after", "0.5")], Some(Duration::from_millis(500))),
        (vec![("retry-after", "9"), ("retry-after-ms", "250")], Some(Duration::from_millis(250))),
        (
            vec![("date", "Sun, 29 Nov 2026 17:00:00 GMT"), ("retry-after", "Sun, 29 Nov 2026 17:01:30 GMT")],
            Some(Duration::from_secs(90)),
        ),
        (vec![("retry-after", "soon")], None),
        (vec![("retry-after", "-1")], None),
        (vec![], None),
    ] {
        let map = headers.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)));
        let error = reply(429, "slow down").with_response_headers(Some(map.collect::<HeaderMap>()));
        assert_eq!(classify(&PROVIDER, None, &error).retry_after(), want, "{headers:?}");
    }
}

#[test]
fn messages_are_short_and_hold_no_key() {
    let error = reply(401, r#"{"error":{"message":"Incorrect API key provided: sk-secret"}}"#);
    assert_eq!(
        classify(&PROVIDER, None, &error),
        ModelError::MissingCredentials { message: "acme does not accept the credentials: check ACME_KEY".into() }
    );
    // At the place where a long text is cut, too.
    let key = "a-key-of-nobody";
    for said in [format!("no: {key}"), format!("{}{key}", "x".repeat(295)), format!("<p>Bearer {key}</p>")] {
        for error in [reply(500, &said), reply(400, &json!({"error": {"message": said}}).to_string()), reply(0, &said)]
        {
            let told = classify(&PROVIDER, Some(key), &error).to_string();
            assert!(!told.contains("a-key") && told.contains("[hid"), "{told}");
        }
    }
    let long = classify(&PROVIDER, None, &reply(400, &"ö".repeat(5000))).to_string();
    assert!(long.chars().count() < 320, "{long}");
}
