//! Programs that run as another user.

use super::*;

/// Makes a folder that all users may pass through, with a file that only its owner may read.
fn kept_from_others(folder: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    let file = folder.join("startup.key");
    std::fs::write(&file, "the key").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    file
}

#[tokio::test]
async fn a_program_that_runs_as_another_user_has_that_users_rights_and_no_more() {
    let mut shell = Shell::new(
        "id -un; id -u; cat \"$2\" 2>&1; echo \"$HOME $USER $XDG_CONFIG_HOME\"; grep -E 'Cap(Eff|Prm|Amb)' /proc/self/status",
    );
    let file = kept_from_others(shell.folder.path());
    shell.spec.argv.push(file.to_str().unwrap().into());
    shell.spec.cwd = Some("/".into());
    shell.spec.run_as = Some("nobody".into());
    if !nix::unistd::geteuid().is_root() {
        let message = shell.fault().await.message;
        assert!(message.starts_with("This server cannot run programs as nobody"), "{message}");
        return;
    }
    let answer = shell.run().await.unwrap();
    let lines: Vec<&str> = answer.lines().collect();
    assert_eq!(lines[0], "nobody", "{answer}");
    assert!(lines[2].ends_with("Permission denied"), "{answer}");
    assert!(
        lines[3].trim_end().ends_with("nobody")
            && !lines[3].starts_with(&std::env::var("HOME").unwrap()),
        "{answer}"
    );
    assert!(
        lines[4..].len() == 3 && lines[4..].iter().all(|line| line.ends_with("0000000000000000")),
        "{answer}"
    );
    let private = shell.folder.path().join("private");
    std::fs::write(&private, "#!/bin/sh\necho ran\n").unwrap();
    std::fs::set_permissions(&private, std::os::unix::fs::PermissionsExt::from_mode(0o700))
        .unwrap();
    let argv = std::mem::replace(&mut shell.spec.argv, vec![private.to_str().unwrap().into()]);
    let fault = shell.fault().await;
    assert!(
        fault.code == "exit_status" && fault.message.contains("Permission denied"),
        "a program of the server's alone: {fault:?}"
    );
    shell.spec.argv = argv;
    shell.spec.run_as = Some("no-such-user-here".into());
    let fault = shell.fault().await;
    assert_eq!(fault.code, "spawn_failed");
    assert!(fault.message.contains("does not exist"), "{}", fault.message);
}

#[tokio::test]
async fn a_hanging_program_of_another_user_is_ended_too() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let mut shell = Shell::new("trap '' TERM; sleep 1000").limited(Millis(300));
    shell.spec.cwd = Some("/".into());
    shell.spec.run_as = Some("nobody".into());
    assert_eq!(shell.fault().await.code, "timeout");
    until("nobody is left", || !shell.is_anybody_left()).await;
}
