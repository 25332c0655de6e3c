//! The cost of a turn in a terminal on top of its model. The numbers are printed, not asserted: run
//! with `--nocapture`.

use std::time::{Duration, Instant};

use moothall_testkit::model_server::{Gate, Reply};

use crate::house::{House, in_state};

const TURNS: usize = 15;

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn the_cost_of_a_turn_of_claude_is_printed() {
    let house = House::new().await;
    let server = house.serve();
    let session = house.run(&server, "claude", &[]).await;
    in_state(&server, &session, "idle").await;
    let (mut asked, mut replied, mut looks) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..TURNS {
        let (key, gate) = (format!("turn-{number:02}"), Gate::default());
        house.when(&key, &Reply::text("Done.").gated(&gate));
        let began = Instant::now();
        let said = server.say(&session, &format!("Please {key}")).await;
        house.model("claude").asked_about(&key).await;
        asked.push(began.elapsed());
        let ends = Instant::now();
        gate.open(1000);
        server.reply(&session, &said, "claude").await;
        replied.push(ends.elapsed());
        let look = Instant::now();
        server.get(&format!("/sessions/{session}/screen")).await;
        looks.push(look.elapsed());
    }
    println!(
        "a turn of claude, medians of {TURNS}: said until its model is asked {:.0?}, the end of \
         the answer until the reply {:.0?}, one look at the screen {:.1?}",
        median(&mut asked),
        median(&mut replied),
        median(&mut looks)
    );
}
