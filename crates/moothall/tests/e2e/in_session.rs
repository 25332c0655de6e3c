//! The command line inside a session never acts as a person.

use std::process::Command;

use crate::harness::Home;

/// An agent removes its token, or all variables, from the environment. Its ancestors still reveal
/// the session.
#[tokio::test]
async fn inside_a_session_the_start_up_credential_is_not_taken() {
    let home = Home::new();
    let server = home.serve();
    let program = env!("CARGO_BIN_EXE_moothall");
    let list = format!("'{program}' --server {} token list", server.url);
    let path = std::env::var("PATH").unwrap();
    let shell = |script: &str, marked: bool| {
        let mut command = Command::new("sh");
        // The shell replaces itself by a script's last command, so the command must not be last.
        command.args(["-c", &format!("{script}; code=$?; exit $code")]).current_dir(home.path());
        command.env_clear().env("PATH", &path).env("HOME", home.path());
        if marked {
            command.env("MOOTHALL_SESSION", "0198c0de").env("MOOTHALL_SESSION_TOKEN", "ses_x");
        }
        command.output().unwrap()
    };
    assert!(shell(&list, false).status.success(), "a person's own shell");
    let without = [
        format!("env -u MOOTHALL_SESSION_TOKEN {list}"),
        format!("env -u MOOTHALL_SESSION_TOKEN -u MOOTHALL_SESSION {list}"),
        format!("env -i HOME=\"$HOME\" PATH=\"$PATH\" {list}"),
    ];
    for script in without {
        let refused = shell(&script, true);
        let error = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(77), "{script}: {error}");
        assert!(error.contains("run this in your own terminal"), "{error}");
    }
}
