//! Targets of links that Telegram takes.

use moothall_kernel::text::is_deceptive;

/// Schemes of targets.
const SCHEMES: [&str; 3] = ["http://", "https://", "tg:"];
/// Places of `tg:` that are not links: Telegram draws the first as a mention, which notifies that
/// person, and the second as an emoji.
const NOT_LINKS: [&str; 2] = ["user", "emoji"];

/// True if a target may be sent as a link.
pub(super) fn is_sent(target: &str) -> bool {
    let target = target.to_ascii_lowercase();
    let Some(place) = SCHEMES.iter().find_map(|scheme| target.strip_prefix(scheme)) else {
        return false;
    };
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && !is_deceptive(c);
    !place.is_empty() && target.chars().all(is_plain) && !is_of_telegram(&target)
}

fn is_of_telegram(target: &str) -> bool {
    let Some(place) = target.strip_prefix("tg:") else { return false };
    NOT_LINKS.iter().any(|word| place.trim_start_matches('/').starts_with(word))
}
