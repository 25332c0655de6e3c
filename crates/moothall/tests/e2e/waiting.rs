//! `say --wait`: at a terminal the work is seen while it goes on; on a pipe only the answer.

use moothall_testkit::model_server::{Gate, ModelServer, Reply};

use crate::harness::{Home, Server};
use crate::terminal::{Terminal, is_possible};

/// Starts a server with a model whose answer passes a gate, and an agent that answers at once.
fn configured<'a>(home: &'a Home, models: &ModelServer) -> Server<'a> {
    home.configure(&format!(
        "[agents.ada]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"{}\"\n\
         [agents.quick]\nreplies = [\"Aside.\"]\n",
        models.url()
    ));
    let server = home.serve();
    server.ok(&["new", "Plan", "--policy", "mention_only", "--with", "ada", "--with", "quick"]);
    server
}

#[tokio::test(flavor = "multi_thread")]
async fn at_a_terminal_a_wait_shows_the_work_and_marks_other_answers() {
    if !is_possible() {
        return;
    }
    let (models, gate) = (ModelServer::start().await.unwrap(), Gate::default());
    models.always("m", Reply::pieces(["Half an answer ", "and the rest."]).gated(&gate));
    let home = Home::new();
    let server = configured(&home, &models);
    let terminal = Terminal::start(&server, "say - '@ada go' --wait", 90, 30);
    terminal.see("· ada is thinking, ");
    gate.open(1);
    let writing = terminal.see("Half an answer");
    assert!(writing.contains("…  ada"), "{writing}");
    terminal.see("· ada is writing, ");

    server.ok(&["say", "-", "@quick and you?", "--wait"]);
    let aside = terminal.see("Aside.");
    assert!(aside.contains("(another message) Aside."), "{aside}");
    assert!(!aside.contains("left with"), "it waits for its own answer:\n{aside}");
    gate.open(10);
    let over = terminal.see("left with 0");
    assert!(over.contains("Half an answer and the rest."), "{over}");
    assert!(!over.contains("…  ada") && !over.contains("ada is "), "no live row is left:\n{over}");
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_pipe_a_wait_prints_the_answer_alone() {
    let models = ModelServer::start().await.unwrap();
    models.always("m", Reply::pieces(["Half an answer ", "and the rest."]));
    let home = Home::new();
    let server = configured(&home, &models);
    let output = server.command(&["say", "-", "@ada go", "--wait"]).output().unwrap();
    let (said, noted) = (String::from_utf8(output.stdout).unwrap(), output.stderr);
    assert!(said.trim_end().ends_with("ada       Half an answer and the rest."), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(!String::from_utf8(noted).unwrap().contains("thinking"));
}
