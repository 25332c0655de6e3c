//! `agents`: which agents the server can run.

use moothall_surfaces::wire::{AgentEntry, AgentList};

use super::Desk;
use crate::fault::Fault;
use crate::paint::{Style, note};

pub async fn run(desk: &Desk) -> Result<(), Fault> {
    let list: AgentList = desk.client.get("/agents").await?;
    if desk.paper.json {
        return desk.paper.object(&list);
    }
    let width = list.agents.iter().map(|agent| agent.client.chars().count()).max().unwrap_or_default();
    for agent in &list.agents {
        desk.paper.line(&row(desk, agent, width))?;
    }
    note("Invite one: moothall invite - NAME");
    Ok(())
}

fn row(desk: &Desk, agent: &AgentEntry, width: usize) -> String {
    let fill = " ".repeat(width.saturating_sub(agent.client.chars().count()));
    let name = desk.paper.paint(Style::Bold, &agent.client);
    let how = format!("{:<8} {:<10}", agent.runtime, agent.origin);
    format!("{name}{fill}  {}  {}", desk.paper.paint(Style::Dim, &how), desk.paper.paint(Style::Plain, &agent.summary))
}
