//! `stop-server`: stops the server of a data folder, also one that does not run in the background.

use serde_json::json;

use crate::background;
use crate::cli::DataFolder;
use crate::config;
use crate::fault::Fault;
use crate::paint::{Printer, note};
use crate::place::data_folder_of;

/// Stops the server of the data folder. Prints if one was stopped, or if none runs.
pub async fn run(folder: &DataFolder, printer: &Printer) -> Result<(), Fault> {
    let data = data_folder_of(folder, &config::environment())?;
    let stopped = background::stop(&data).await?;
    if printer.json {
        return printer.object(&json!({"data": data, "stopped": stopped}));
    }
    note(&match stopped {
        true => "The server has stopped. Agents in terminals go on.".to_owned(),
        false => format!(
            "No server runs on {}. One on another folder: moothall stop-server --data DIR",
            data.display()
        ),
    });
    Ok(())
}
