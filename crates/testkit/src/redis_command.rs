//! Commands that a test gives to its private Redis, beside those of the programs under test.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

use crate::redis::RedisServer;

impl RedisServer {
    /// Runs a command of words without spaces, as [`RedisServer::run`] does.
    pub fn ask(&self, line: &str) -> Vec<Vec<u8>> {
        self.run(&words_of(line))
    }

    /// Runs a command of words without spaces, at a server with a password.
    pub fn ask_with(&self, password: &str, line: &str) -> Vec<Vec<u8>> {
        self.run_all(&[&[b"AUTH", password.as_bytes()], &words_of(line)]).split_off(1)
    }

    /// Runs a command on a connection of its own. Returns the texts and numbers of the answer in
    /// their order, whatever their nesting.
    ///
    /// # Panics
    /// The server cannot be reached, or refuses the command.
    pub fn run(&self, words: &[&[u8]]) -> Vec<Vec<u8>> {
        self.run_all(&[words])
    }

    #[expect(clippy::unwrap_used, reason = "a test cannot go on without its server")]
    fn run_all(&self, commands: &[&[&[u8]]]) -> Vec<Vec<u8>> {
        let mut stream = UnixStream::connect(self.socket()).unwrap();
        let mut bytes = Vec::new();
        for words in commands {
            bytes.extend_from_slice(format!("*{}\r\n", words.len()).as_bytes());
            for word in *words {
                bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
                bytes.extend_from_slice(word);
                bytes.extend_from_slice(b"\r\n");
            }
        }
        stream.write_all(&bytes).unwrap();
        let (mut stream, mut answers) = (BufReader::new(stream), Vec::new());
        for _ in commands {
            read_value(&mut stream, &mut answers).unwrap();
        }
        answers
    }
}

fn words_of(line: &str) -> Vec<&[u8]> {
    line.split_whitespace().map(str::as_bytes).collect()
}

/// Reads one value of the answer, and appends its texts.
fn read_value(stream: &mut impl BufRead, texts: &mut Vec<Vec<u8>>) -> io::Result<()> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let (kind, rest) = line.trim_end().split_at_checked(1).unwrap_or_default();
    let count = || rest.parse::<i64>().ok().and_then(|count| usize::try_from(count).ok());
    match kind {
        "+" | ":" => texts.push(rest.as_bytes().to_vec()),
        "$" => {
            let Some(len) = count() else { return Ok(()) };
            let mut text = vec![0; len + 2];
            stream.read_exact(&mut text)?;
            text.truncate(len);
            texts.push(text);
        }
        "*" => {
            for _ in 0..count().unwrap_or(0) {
                read_value(stream, texts)?;
            }
        }
        _ => return Err(io::Error::other(format!("it answers {line}"))),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_whatever_their_nesting() {
        let mut answer = b"*3\r\n:7\r\n$-1\r\n*2\r\n$3\r\n\r\nx\r\n+OK\r\n".as_slice();
        let mut texts = Vec::new();
        assert!(read_value(&mut answer, &mut texts).is_ok());
        assert_eq!(texts, [b"7".to_vec(), b"\r\nx".to_vec(), b"OK".to_vec()]);
        assert!(read_value(&mut b"-ERR words\r\n".as_slice(), &mut texts).is_err());
    }
}
