//! Budgets and sums through the whole program: a limit is enforced, reported, and raised by a
//! person. All usage survives a crash.

use moothall_testkit::model_server::{Gate, ModelServer, Reply};
use serde_json::{Value, json};

use crate::harness::{Home, comes_about};

#[tokio::test]
async fn a_budget_ends_is_told_is_raised_and_what_it_paid_is_summed() {
    let models = ModelServer::start().await.unwrap();
    let home = Home::new();
    home.configure(&format!(
        "[defaults]\ncooldown_seconds = 0\n[budgets]\ncurrency = \"EUR\"\nconversation = {{ turns_per_hour = 1 }}\n\
         [agents.ada]\nruntime = \"llm\"\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"{}\"\nprice_input = 3\nprice_output = 15\n",
        models.url()
    ));
    let server = home.serve();
    let thread = server.thread().await;
    server.invite(&thread, "ada", "ada").await;
    models.script("m", [Reply::text("One.").usage(500, 4), Reply::text("Two.").usage(100, 1)]);
    let first = server.say(&thread, "@ada one").await;
    server.reply(&thread, &first, "ada").await;

    let second = server.say(&thread, "@ada two").await;
    let seq = second["seq"].as_u64().unwrap();
    let notice =
        server.wait_for(&thread, seq, |event| event["content"]["code"] == "over_budget").await;
    let content = &notice["content"];
    assert_eq!(
        (&content["budget"], &content["measure"], &content["limit"]),
        (&json!("conversation"), &json!("turns"), &json!(1)),
        "{notice}"
    );
    let why = server.ok(&["why", &thread]);
    assert!(
        why.contains("over_budget")
            && why.contains("in this conversation: 1 turn, 500 + 4 tokens, 0.00156 EUR"),
        "{why}"
    );
    let shown = server.ok(&["budget", "--conversation", &thread]);
    assert!(shown.contains("budget of conversation: 1 of 1 turn per hour, until"), "{shown}");

    server.ok(&["budget", "raise", "--conversation", &thread, "--turns", "1", "--for", "30m"]);
    server.control(&thread, json!({"prod": ["ada"]})).await;
    server.wait_for(&thread, seq, |event| event["from"] == "ada").await;

    let server = server.crash_and_restart();
    let used: Value = server.json(&["usage", "--by", "agent"]);
    assert_eq!(used["currency"], "EUR");
    let row = &used["rows"][0];
    assert_eq!(
        (&row["agent"], &row["turns"], &row["input_tokens"], &row["cost_micros"]),
        (&json!("ada"), &json!(2), &json!(600), &json!(1_875))
    );
    let by_thread = server.json(&["usage", "--by", "conversation"]);
    assert_eq!(
        (&by_thread["rows"][0]["thread"], &by_thread["total"]["turns"]),
        (&json!(thread), &json!(2))
    );
    let third = server.say(&thread, "@ada three").await;
    let again = server
        .wait_for(&thread, third["seq"].as_u64().unwrap(), |event| {
            event["content"]["code"] == "over_budget"
        })
        .await;
    assert_eq!(
        again["content"]["limit"], 2,
        "a raise is over as well, and survives the crash: {again}"
    );
}

/// A budget of 20, calls of 2, 40 conversations at once, and a kill during ten calls.
#[tokio::test]
async fn calls_at_once_do_not_pass_a_budget_of_money_also_over_a_kill() {
    let (models, gate) = (ModelServer::start().await.unwrap(), Gate::default());
    models.always("m", Reply::text("Dear.").usage(0, 2).gated(&gate));
    let home = Home::new();
    home.configure(&format!(
        "[budgets]\nhall = {{ cost_per_day = 20.0 }}\n\
         [agents.ada]\nruntime = \"llm\"\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"{}\"\n\
         price_input = 0\nprice_output = 1000000\nmax_tokens = 2\n",
        models.url()
    ));
    let server = home.serve();
    let mut rooms = Vec::new();
    for _ in 0..40 {
        let thread = server.thread().await;
        server.invite(&thread, "ada", "ada").await;
        server.say(&thread, "@ada now").await;
        rooms.push(thread);
    }
    models.asked(10).await;
    gate.open(4);
    let spent = async |micros: u64| {
        let usage = server.get("/usage").await;
        usage["total"]["cost_micros"].as_u64() == Some(micros)
    };
    assert!(comes_about(async || spent(8_000_000).await).await, "four calls end");
    assert_eq!(models.requests().len(), 10, "what they leave is spent");

    let server = server.crash_and_restart();
    gate.open(100);
    let rests = async || {
        for room in &rooms {
            let state = server.get(&format!("/threads/{room}/state")).await;
            if state["turns"].as_array().is_some_and(|turns| !turns.is_empty()) {
                return false;
            }
        }
        true
    };
    assert!(comes_about(rests).await, "each turn ends");
    let usage = server.get("/usage").await;
    assert_eq!(usage["total"]["cost_micros"], 20_000_000, "{usage}");
    assert_eq!(models.requests().len(), 16, "six calls that the crash cut off were made again");
}

/// A program's own cost is charged, whatever it prints beside it, and an absurd one is not.
#[tokio::test]
async fn a_program_that_reports_its_cost_is_held_to_a_budget_of_money() {
    let home = Home::new();
    let claude = home.script(
        "claude",
        r#"case "$(cat)" in
        *absurd*) cost=-1e300 tokens='"many"' ;;
        *) cost=0.25 tokens=500 ;;
        esac
        echo "{\"type\":\"result\",\"result\":\"Said.\",\"total_cost_usd\":$cost,\"usage\":{\"input_tokens\":$tokens,\"output_tokens\":4}}""#,
    );
    home.configure(&format!(
        "[agents]\ndiscover = false\n[defaults]\ncooldown_seconds = 0\n[budgets]\nhall = {{ cost_per_day = 0.4 }}\n\
         [agents.ada]\ncommand = [\"{claude}\", \"-p\", \"--output-format\", \"json\"]\nstdin = \"prompt\"\n"
    ));
    let server = home.serve();
    let thread = server.thread().await;
    server.invite(&thread, "ada", "ada").await;
    let asked = server.say(&thread, "@ada be absurd").await;
    assert_eq!(server.reply(&thread, &asked, "ada").await["content"], "Said.");
    let total = |server: &crate::harness::Server<'_>| {
        let usage: Value = server.json(&["usage", "--by", "agent"]);
        ["input_tokens", "output_tokens", "cost_micros"]
            .map(|field| usage["total"][field].as_u64().unwrap())
    };
    assert_eq!(total(&server), [0, 4, 0]);
    let other = server.thread().await;
    server.invite(&other, "ada", "ada").await;
    for times in 1..=2 {
        let asked = server.say(&other, "@ada again").await;
        server.reply(&other, &asked, "ada").await;
        assert_eq!(total(&server), [500 * times, 4 + 4 * times, 250_000 * times]);
    }
    let refused = server.say(&other, "@ada once more").await;
    let seq = refused["seq"].as_u64().unwrap();
    let notice =
        server.wait_for(&other, seq, |event| event["content"]["code"] == "over_budget").await;
    assert_eq!(notice["content"]["measure"], json!("cost_micros"), "{notice}");
    let why = server.ok(&["why", &other]);
    assert!(why.contains("500 + 4 tokens, cost 0.25 USD"), "{why}");
}
