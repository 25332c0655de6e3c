//! `search`: finds messages in all conversations.

use moothall_surfaces::wire::{SearchAnswer, SearchHit};

use super::Context;
use crate::cli::Search;
use crate::client::segment;
use crate::clock::day_and_time;
use crate::fault::Fault;
use crate::paint::{Style, note};

/// Prints one page of matches. Notes the cursor of the next page, and the number of new events that
/// are not indexed yet.
pub async fn run(context: &Context, args: &Search) -> Result<(), Fault> {
    let cursor = args.cursor.map_or_else(String::new, |cursor| format!("&cursor={cursor}"));
    let path = format!("/search?q={}&limit={}{cursor}", segment(&query(&args.query)), args.limit);
    let answer: SearchAnswer = context.client.get(&path).await?;
    if context.printer.json {
        return context.printer.object(&answer);
    }
    for hit in &answer.hits {
        context.printer.line(&row(context, hit))?;
    }
    if answer.hits.is_empty() {
        note("No message matches.");
    }
    if let Some(next) = answer.next {
        note(&format!("For more results, add --cursor {next}"));
    }
    if answer.lag_events > 0 {
        note(&format!(
            "The newest {} events are not indexed yet; try again in a moment.",
            answer.lag_events
        ));
    }
    Ok(())
}

/// Returns the query for the words of a command line. One word is the query as it is. Of several
/// words, those with spaces are quoted again, because the shell has removed their quotes.
fn query(words: &[String]) -> String {
    let [whole] = words else {
        return words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    };
    whole.clone()
}

/// Quotes a word that has spaces. In `key:value` with spaces only after the colon, quotes the
/// value.
fn quoted(word: &str) -> String {
    if !word.contains(char::is_whitespace) || word.contains('"') {
        return word.to_owned();
    }
    match word.split_once(':') {
        Some((key, value)) if !key.contains(char::is_whitespace) => {
            format!("{key}:\"{}\"", value.trim_start())
        }
        _ => format!("\"{word}\""),
    }
}

/// Returns a match as a line, with the matching words highlighted.
fn row(context: &Context, hit: &SearchHit) -> String {
    let printer = &context.printer;
    let at = day_and_time(&hit.ts).unwrap_or_else(|| hit.ts.clone());
    let place = format!("{at}  {}", hit.seq);
    let words = hit.snippet.iter().map(|piece| {
        printer.paint(if piece.matched { Style::Warn } else { Style::Plain }, &piece.text)
    });
    let (place, thread, from) = (
        printer.paint(Style::Dim, &place),
        printer.paint(Style::Dim, &hit.thread_name),
        printer.paint(Style::Bold, &hit.from),
    );
    format!("{thread}  {place}  {from}  {}", words.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_takes_quotes_off_and_they_come_back() {
        let asked = |words: &[&str]| {
            query(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(asked(&["deploy friday from:ann"]), "deploy friday from:ann");
        assert_eq!(
            asked(&["deploy", "from:Ann Lee", "on friday", "x:y"]),
            "deploy from:\"Ann Lee\" \"on friday\" x:y"
        );
        assert_eq!(asked(&["\"on friday\"", "at 10:30 sharp"]), "\"on friday\" \"at 10:30 sharp\"");
    }
}
