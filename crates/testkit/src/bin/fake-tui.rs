//! A stand-in for a command-line agent in a terminal; see [`moothall_testkit::fake_tui`].

use moothall_testkit::fake_tui::{self, Options};

fn main() -> std::io::Result<()> {
    match Options::read(std::env::args().skip(1)) {
        Ok(Some(options)) => fake_tui::run(options),
        Ok(None) => {
            println!("{}", fake_tui::HELP);
            Ok(())
        }
        Err(why) => {
            eprintln!("{why}\n\n{}", fake_tui::HELP);
            std::process::exit(2);
        }
    }
}
