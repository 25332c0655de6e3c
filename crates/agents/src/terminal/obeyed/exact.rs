//! Finds the text that must arrive byte for byte: patches, and code between fences.

use std::iter::Peekable;
use std::ops::Range;

/// Most spaces before a fence. (CommonMark)
const INDENT_MAX: usize = 3;
/// Fewest signs of a fence.
const FENCE_MIN: usize = 3;

/// Lines that git writes between `diff --git` and the first hunk.
const HEADERS: [&str; 12] = [
    "index ",
    "old mode ",
    "new mode ",
    "new file mode ",
    "deleted file mode ",
    "similarity index ",
    "dissimilarity index ",
    "rename from ",
    "rename to ",
    "copy from ",
    "copy to ",
    "Binary files ",
];

/// Returns the places of the patches and of the code between fences in a member's message, in their
/// order.
pub(super) fn blocks(body: &str) -> Vec<Range<usize>> {
    let mut reader = Reader { lines: Lines { rest: body, at: 0 }.peekable(), at: 0 };
    let mut blocks = Vec::new();
    while let Some(line) = reader.line() {
        if let Some(block) = reader.patch() {
            blocks.push(block);
            continue;
        }
        reader.take();
        if let Some(fence) = Fence::opened_by(line) {
            blocks.extend(reader.until_closed(&fence));
        }
    }
    blocks
}

/// The lines of a text with their line ends, each with its place.
#[derive(Clone)]
struct Lines<'a> {
    rest: &'a str,
    at: usize,
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let line = self.rest.split_inclusive('\n').next()?;
        let at = self.at;
        (self.rest, self.at) = (&self.rest[line.len()..], at + line.len());
        Some((at, line))
    }
}

/// A reader of lines.
#[derive(Clone)]
struct Reader<'a> {
    lines: Peekable<Lines<'a>>,
    /// The end of the text read so far.
    at: usize,
}

impl<'a> Reader<'a> {
    /// Returns the next line without reading it.
    fn line(&mut self) -> Option<&'a str> {
        self.lines.peek().map(|(_, line)| *line)
    }

    fn take(&mut self) {
        if let Some((at, line)) = self.lines.next() {
            self.at = at + line.len();
        }
    }

    /// Reads the next line if it begins with `start`; returns false otherwise.
    fn takes(&mut self, start: &str) -> bool {
        let begins = self.line().is_some_and(|line| line.starts_with(start));
        if begins {
            self.take();
        }
        begins
    }

    /// Reads a block of code and the fence that closes it; an unclosed block runs to the end.
    /// Returns the place of the code, without the fences; `None` for an empty block.
    fn until_closed(&mut self, fence: &Fence) -> Option<Range<usize>> {
        let start = self.at;
        let mut end = start;
        while let Some(line) = self.line() {
            self.take();
            if fence.is_closed_by(line) {
                break;
            }
            end = self.at;
        }
        (start < end).then_some(start..end)
    }

    /// Reads the patches of files that follow each other directly, and returns their place. `None`
    /// if the next line does not begin a patch.
    fn patch(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        while self.patch_of_file() {}
        (start < self.at).then_some(start..self.at)
    }

    /// Reads the patch of one file; returns false and reads nothing if there is none.
    fn patch_of_file(&mut self) -> bool {
        let mut read = self.clone();
        let has_headers = read.takes("diff --git ") && read.headers();
        let mut headed = read.clone();
        let has_hunks = headed.takes("--- ") && headed.takes("+++ ") && headed.hunk();
        if has_hunks {
            while headed.hunk() {}
            read = headed;
        }
        if has_headers || has_hunks {
            *self = read;
        }
        has_headers || has_hunks
    }

    /// Reads git's headers before the hunks, and a binary patch; false if there is neither.
    fn headers(&mut self) -> bool {
        let start = self.at;
        while HEADERS.iter().any(|header| self.takes(header)) {}
        if self.takes("GIT binary patch") {
            while self.takes("literal ") || self.takes("delta ") {
                while self.line().is_some_and(|line| !line.trim_end().is_empty()) {
                    self.take();
                }
                self.take();
            }
        }
        start < self.at
    }

    /// Reads a hunk, up to the number of lines in its head; false if there is none.
    fn hunk(&mut self) -> bool {
        let Some((mut old, mut new)) = self.line().and_then(counts) else { return false };
        self.take();
        while let Some(line) = self.line().filter(|_| old > 0 || new > 0) {
            let (less_old, less_new) = match line.chars().next() {
                Some('-') => (1, 0),
                Some('+') => (0, 1),
                Some('\\') => (0, 0),
                // Some programs omit the blank of an empty context line.
                Some(' ' | '\r' | '\n') => (1, 1),
                _ => break,
            };
            let left = (old.checked_sub(less_old), new.checked_sub(less_new));
            let (Some(left_old), Some(left_new)) = left else { break };
            (old, new) = (left_old, left_new);
            self.take();
        }
        self.takes("\\ ");
        true
    }
}

/// Returns the numbers of old and new lines in the head of a hunk.
fn counts(line: &str) -> Option<(u64, u64)> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let count = |side: &str| match side.split_once(',') {
        Some((from, count)) => from.parse::<u64>().ok().and(count.parse().ok()),
        None => side.parse::<u64>().ok().and(Some(1)),
    };
    Some((count(old)?, count(new)?))
}

/// The signs that open a block of code.
struct Fence {
    sign: char,
    length: usize,
}

impl Fence {
    fn opened_by(line: &str) -> Option<Self> {
        let (fence, info) = Self::begins(line)?;
        (fence.sign == '~' || !info.contains('`')).then_some(fence)
    }

    fn is_closed_by(&self, line: &str) -> bool {
        Self::begins(line).is_some_and(|(fence, rest)| {
            fence.sign == self.sign && fence.length >= self.length && rest.trim().is_empty()
        })
    }

    /// Returns the fence at the beginning of a line, and the text after it.
    fn begins(line: &str) -> Option<(Self, &str)> {
        let signs = line.trim_start_matches(' ');
        let sign = signs.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
        let info = signs.trim_start_matches(sign);
        let (indent, length) = (line.len() - signs.len(), signs.len() - info.len());
        (indent <= INDENT_MAX && length >= FENCE_MIN).then_some((Self { sign, length }, info))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(body: &str) -> Vec<&str> {
        blocks(body).into_iter().map(|block| &body[block]).collect()
    }

    #[test]
    fn a_patch_is_as_long_as_its_hunks_say() {
        let plain = "--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@ fn x\n a\n--- b\n+++ c\n+@@ -1 +1 @@\n";
        let unfinished = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\
                          \\ No newline at end of file\n";
        let windows = "--- a/x\r\n+++ b/x\r\n@@ -1,2 +1,2 @@\r\n \r\n-a\r\n+b\r\n";
        let git = "diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\n\
                   index 1..2 100644\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n@@ -9,0 +10 @@\n+c\n";
        let renamed = "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n";
        let bytes = "diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKc$@x\n\n\
                     literal 2\nJc$z\n\n";
        let markdown = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n ```\n-a\n+b\n";
        for patch in [plain, unfinished, windows, git, renamed, bytes, markdown] {
            assert_eq!(found(patch), [patch]);
            assert_eq!(found(&format!("see:\n{patch}-- \n2.43.0\n")), [patch]);
            let cut = patch.trim_end();
            assert_eq!(found(cut), [cut], "without an end");
        }
        let (all, apart) = ([git, renamed, plain].concat(), format!("{git}\nand\n{plain}\nyes"));
        assert_eq!(found(&all), [all.as_str()], "one block of several files");
        assert_eq!(found(&apart), [git, plain]);
        assert_eq!(
            found("--- a\n+++ b\n@@ -1,9 +1,9 @@\n-a\nwords\n"),
            ["--- a\n+++ b\n@@ -1,9 +1,9 @@\n-a\n"]
        );
    }

    #[test]
    fn code_stands_between_fences() {
        for (body, code) in [
            ("a\n```make\nall:\n\techo\n```\nb", "all:\n\techo\n"),
            ("~~~ a`b\n```\nx\n```\n~~~~ \ny", "```\nx\n```\n"),
            ("````\n```\nx\n```\n````", "```\nx\n```\n"),
            ("   ```\n  x\n  ```\r\ny", "  x\n"),
            ("```\nx\n``` y\n~~~\n", "x\n``` y\n~~~\n"),
            ("```\nx", "x"),
            ("```diff\n--- a\n+++ b\n@@ -1 +1 @@\n-a\n```\n", "--- a\n+++ b\n@@ -1 +1 @@\n-a\n"),
        ] {
            assert_eq!(found(body), [code], "{body:?}");
        }
        assert_eq!(found("```\na\n```\n\n```\nb\n```\n"), ["a\n", "b\n"]);
    }

    #[test]
    fn other_words_stay_in_the_prompt() {
        for body in [
            "all:\n\techo @x\n",
            "`` `x` ``\n```x``` y\n    ```\n\tx\n",
            "```\n```\n",
            "diff --git is a command\n--- a\nb\n",
            "--- a\n+++ b\nno hunk\n",
            "@@ -1 +1 @@\n-a\n+b\n",
            "",
        ] {
            assert!(found(body).is_empty(), "{body:?}");
        }
    }

    proptest! {
        #[test]
        fn blocks_follow_each_other(lines in prop::collection::vec("(```|~~~|diff --git a b|--- a|\\+\\+\\+ b|@@ -[0-9]{1,2},2 \\+1 @@| a|-é|\\+c|x|)\r?", 0..30)) {
            let body = lines.join("\n");
            let mut at = 0;
            for block in blocks(&body) {
                prop_assert!(at <= block.start && block.start < block.end, "{body:?}");
                prop_assert!(body.get(block.clone()).is_some());
                at = block.end;
            }
        }
    }
}
