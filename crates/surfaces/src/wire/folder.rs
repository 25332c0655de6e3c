//! Folders of the server's computer on the wire, for the choice of a working folder.

use std::path::{Path, PathBuf};

use moothall_engine::sessions::FolderList;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A folder on the server's computer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FolderPlace {
    /// Name of the folder.
    pub name: String,
    /// Absolute path of the folder.
    pub path: String,
    /// True if the folder is the working copy of a repository.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub project: bool,
}

/// Answer of `GET /folders`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FolderAnswer {
    /// Absolute path of the folder whose content is listed.
    pub path: String,
    /// Absolute path of the folder around it; absent at the top.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The folders inside, in the order of their names. Hidden ones are left out.
    pub folders: Vec<FolderPlace>,
    /// Absolute paths of the folders in which sessions worked, newest first.
    pub recent: Vec<String>,
}

impl FolderAnswer {
    /// Returns the answer for a list of folders. Paths that are not UTF-8 are left out.
    pub fn new(list: &FolderList, recent: &[PathBuf]) -> Self {
        let folder = &list.folder;
        let text = |path: &Path| path.to_str().map(str::to_owned);
        let places = list.folders.iter().filter_map(|entry| {
            let (name, project) = (entry.name.clone(), entry.is_project);
            Some(FolderPlace { path: text(&folder.join(&name))?, name, project })
        });
        Self {
            path: folder.display().to_string(),
            parent: folder.parent().and_then(text),
            folders: places.collect(),
            recent: recent.iter().filter_map(|path| text(path)).collect(),
        }
    }
}
