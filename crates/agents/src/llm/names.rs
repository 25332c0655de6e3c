//! The settings that a model's name implies.

use serde_json::{Value, json};

/// The reasoning effort of a model, given by the last part of its configured name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
pub(super) enum Effort {
    #[strum(to_string = "none", serialize = "zero")]
    Zero,
    Minimal,
    Low,
    Medium,
    High,
    XHigh,
    Max,
}

/// Returns the name that the provider knows, and the effort that is appended to it. Only names of
/// Claude, Gemini and OpenAI have one. In `qwen-max` and `gpt-5-codex-max`, `max` belongs to the
/// name.
pub(super) fn split(model: &str) -> (&str, Option<Effort>) {
    let own = own_name(model);
    let known = own.starts_with("claude-") || own.starts_with("gemini-") || is_openai(own);
    match model.rsplit_once('-').map(|(name, last)| (name, last.parse())) {
        Some((name, Ok(effort))) if known && !own.ends_with("codex-max") => (name, Some(effort)),
        _ => (model, None),
    }
}

/// Returns the name without the path that gateways put before it.
fn own_name(model: &str) -> &str {
    model.rsplit('/').next().unwrap_or(model)
}

fn is_openai(name: &str) -> bool {
    (name.starts_with("gpt") && !name.starts_with("gpt-oss"))
        || ["o1", "o3", "o4"].iter().any(|name_of| name.starts_with(name_of))
}

/// True if OpenAI offers this model through Responses only.
pub(super) fn is_of_responses(model: &str) -> bool {
    let Some((version, variant)) = gpt(split(model).0) else { return false };
    version.is_some_and(|version| version >= (5, 0))
        || variant.contains("codex")
        || variant.contains("pro")
}

/// True if the model's limit counts thoughts too, and is sent as `max_completion_tokens`.
pub(super) fn thinks_by_itself(model: &str) -> bool {
    ["gpt-5", "gpt-6", "o1", "o3", "o4"].iter().any(|name| own_name(model).starts_with(name))
}

/// Returns the setting without which OpenAI's newest models charge for an unused cache.
pub(super) fn cache_options(model: &str) -> Option<Value> {
    let (version, _) = gpt(model)?;
    (version? >= (5, 6)).then(|| json!({"mode": "explicit"}))
}

/// Returns version and variant of a GPT model; the version is `None` if it is not a number. `None`
/// for any other model, also for `gpt-oss`.
fn gpt(model: &str) -> Option<(Option<(u32, u32)>, &str)> {
    let rest = model.strip_prefix("gpt")?;
    let rest = rest.strip_prefix('-').unwrap_or(rest);
    if rest.starts_with("oss") {
        return None;
    }
    let (first, variant) = rest.split_once('-').unwrap_or((rest, ""));
    let (major, minor) = first.split_once('.').unwrap_or((first, "0"));
    match (major.parse(), minor.parse()) {
        (Ok(major), Ok(minor)) => Some((Some((major, minor)), variant)),
        _ => Some((None, rest)),
    }
}

/// Returns family and version of a Claude model, as far as the name says.
fn claude(model: &str) -> (&str, Option<(u32, u32)>) {
    let mut parts = own_name(model).split('-').skip_while(|part| *part == "claude");
    let version = |part: &str| part.parse::<u32>().ok().filter(|_| part.len() <= 2);
    let family = parts.next().unwrap_or_default();
    let major = parts.next().and_then(version);
    let minor = parts.next().and_then(version).unwrap_or_default();
    (family, major.map(|major| (major, minor)))
}

/// Returns the longest answer of a Claude model, in tokens: its API requires a limit.
pub(super) fn anthropic_tokens(model: &str) -> u32 {
    match claude(model) {
        ("opus", Some(version)) if version >= (4, 8) => 128_000,
        ("opus", Some(version)) if version >= (4, 5) => 64_000,
        ("opus", Some(version)) if version >= (4, 0) => 32_000,
        ("opus", Some(_)) => 4_096,
        ("haiku", Some(version)) if version >= (5, 0) => 128_000,
        ("fable" | "mythos", _) => 128_000,
        // In older names the version stands before the family: claude-3-5-sonnet.
        ("3", _) if model.contains("3-7") => 64_000,
        ("3", _) if model.contains("3-5") => 8_192,
        ("3", _) => 4_096,
        _ => 64_000,
    }
}

/// The setting for how much a Claude model thinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThinkingSetting {
    Default,
    Off,
    Effort { effort: &'static str, adaptive: bool },
    Budget(u32),
}

/// Returns the tokens for thoughts, for models that take a number. `low` is the number for a low
/// effort.
const fn budget(effort: Effort, low: u32) -> u32 {
    match effort {
        Effort::Zero => 0,
        Effort::Minimal | Effort::Low => low,
        Effort::Medium => 8_000,
        Effort::High | Effort::XHigh | Effort::Max => 24_000,
    }
}

/// Returns the setting by which a Claude model makes this effort.
pub(super) fn anthropic_thinking(model: &str, effort: Effort) -> ThinkingSetting {
    let (family, version) = claude(model);
    let newest = matches!(family, "fable" | "mythos") || version >= Some((5, 0));
    let adaptive = newest || matches!(family, "opus" | "sonnet") && version >= Some((4, 6));
    let by_effort = adaptive || family == "opus" && version >= Some((4, 5));
    match effort {
        Effort::Zero if version >= Some((5, 0)) => ThinkingSetting::Off,
        Effort::Zero => ThinkingSetting::Default,
        _ if !by_effort => ThinkingSetting::Budget(budget(effort, 1_024)),
        effort => {
            let effort = match effort {
                Effort::Zero | Effort::Minimal | Effort::Low => "low",
                Effort::Medium => "medium",
                Effort::Max if adaptive => "max",
                Effort::XHigh if newest || family == "opus" && version >= Some((4, 7)) => "xhigh",
                Effort::High | Effort::XHigh | Effort::Max => "high",
            };
            ThinkingSetting::Effort { effort, adaptive }
        }
    }
}

/// The setting for how much a Gemini model thinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GeminiThinking {
    Level(&'static str),
    Budget(u32),
}

/// Returns the setting by which a Gemini model makes this effort. A model newer than Gemini 2 has
/// no setting for [`Effort::Zero`], so it decides by itself (`None`).
pub(super) fn gemini_thinking(model: &str, effort: Effort) -> Option<GeminiThinking> {
    if model.contains("gemini-2") || model.contains("gemini-1") {
        return Some(GeminiThinking::Budget(budget(effort, 1_000)));
    }
    Some(GeminiThinking::Level(match effort {
        Effort::Zero => return None,
        Effort::Minimal => "MINIMAL",
        Effort::Low => "LOW",
        Effort::Medium => "MEDIUM",
        Effort::High | Effort::XHigh | Effort::Max => "HIGH",
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effort_is_part_of_the_names_that_have_one() {
        assert_eq!(split("gpt-5-high"), ("gpt-5", Some(Effort::High)));
        assert_eq!(split("openai/o3-low"), ("openai/o3", Some(Effort::Low)));
        assert_eq!(split("claude-opus-4-6-none"), ("claude-opus-4-6", Some(Effort::Zero)));
        for own in ["qwen-max", "deepseek-r1-zero", "gpt-5.1-codex-max", "gpt-oss-high", "m"] {
            assert_eq!(split(own), (own, None));
        }
    }

    #[test]
    fn responses_are_for_openais_newest_models() {
        for model in ["gpt-5", "gpt-5-mini", "gpt-6-astra", "gpt-5.6-high", "gpt-4o-codex"] {
            assert!(is_of_responses(model), "{model}");
        }
        for model in ["gpt-4o", "gpt-4.1-2025-04-14", "gpt-oss-120b", "o3", "m"] {
            assert!(!is_of_responses(model), "{model}");
        }
        assert!(cache_options("gpt-5.10-mini").is_some() && cache_options("gpt-5.5").is_none());
    }

    #[test]
    fn a_claude_model_has_a_limit_and_a_way_to_think() {
        for (model, tokens) in [
            ("claude-3-haiku-20240307", 4_096),
            ("claude-3-5-sonnet-latest", 8_192),
            ("claude-3-7-sonnet-latest", 64_000),
            ("claude-opus-4-20250514", 32_000),
            ("claude-opus-4-5", 64_000),
            ("claude-opus-4-8", 128_000),
            ("claude-sonnet-4-5", 64_000),
            ("m", 64_000),
        ] {
            assert_eq!(anthropic_tokens(model), tokens, "{model}");
        }
        let of = anthropic_thinking;
        assert_eq!(of("claude-sonnet-4-5", Effort::Low), ThinkingSetting::Budget(1_024));
        assert_eq!(of("claude-sonnet-4-5", Effort::Zero), ThinkingSetting::Default);
        let max = ThinkingSetting::Effort { effort: "max", adaptive: true };
        assert_eq!(of("claude-opus-4-6", Effort::Max), max);
    }
}
