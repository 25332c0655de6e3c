//! The files, skills and agents that a program finds for a token. If they cannot be read, each
//! token counts as found.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

use super::tokens::{Requirement, Token};
use crate::terminal::Vendor;

/// Most entries visited in one search. If there are more, names count as found.
const FILES_MAX: usize = 100_000;

/// Most comparisons of paths with names in one prompt: after that, names count as found.
const COMPARED_MAX: usize = 10_000_000;

/// Longest name that is cached, in bytes.
const REPEATED_BYTES_MAX: usize = 256;

/// Longest part of a path on any system, in bytes.
const NAME_BYTES_MAX: usize = 1024;

/// Most levels of folders below the one that is searched.
const DEPTH_MAX: usize = 64;

/// Most levels for skills and agents, whose folders may be links in a circle.
const LINKED_DEPTH_MAX: usize = 6;

/// Folders in which a program does not look for a name.
const SKIPPED: [&str; 2] = [".git", "node_modules"];

/// The part of a file in which its name is looked for, in bytes.
const BEGINNING_BYTES: u64 = 64 << 10;

/// The built-in agents of Gemini CLI.
const OF_GEMINI: [&str; 5] =
    ["browser_agent", "cli_help", "codebase_investigator", "confucius", "generalist"];

/// The places in which a program finds files, skills and agents.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// The working directory, if known.
    pub(crate) work: Option<PathBuf>,
    /// The user's home folder.
    pub(crate) home: Option<PathBuf>,
    /// Codex's own folder, if a variable names it.
    pub(crate) codex: Option<PathBuf>,
}

/// A search that reads folders only when needed, and each of them one time.
pub(in crate::terminal) struct Nearby {
    places: Places,
    files: OnceCell<Option<Files>>,
    /// The names that were looked for, each with true if it may be found.
    looked_for: RefCell<BTreeMap<String, bool>>,
    skills: OnceCell<Option<BTreeSet<String>>>,
    agents: OnceCell<Option<BTreeSet<String>>>,
}

impl Nearby {
    pub(in crate::terminal) fn of(places: Places) -> Self {
        let (files, skills, agents) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Self { places, files, looked_for: RefCell::default(), skills, agents }
    }

    /// True if the program may find something for the token. False only if it is sure to find
    /// nothing.
    pub(super) fn may_obey(&self, vendor: Vendor, token: &Token) -> bool {
        match &token.sought {
            Requirement::Nothing => true,
            Requirement::Skill(names) => {
                let skills = self.skills.get_or_init(|| self.names(&self.skill_folders()).ok());
                holds(skills.as_ref(), names)
            }
            Requirement::File(names) => {
                self.is_agent(vendor, names)
                    || names.iter().any(|name| self.may_find_once(vendor, name))
            }
        }
    }

    /// True if a name may be an agent of Gemini CLI: a built-in agent, or one in its folders. If
    /// these folders cannot be read, each name counts as an agent.
    fn is_agent(&self, vendor: Vendor, names: &[String]) -> bool {
        if vendor != Vendor::Gemini {
            return false;
        }
        let known = || {
            let mut known = self.names(&self.agent_folders()).ok()?;
            known.extend(OF_GEMINI.map(str::to_owned));
            Some(known)
        };
        holds(self.agents.get_or_init(known).as_ref(), names)
    }

    /// True if the program may find a file of this name. The result is cached, because a prompt may
    /// repeat a name.
    fn may_find_once(&self, vendor: Vendor, name: &str) -> bool {
        if let Some(found) = self.looked_for.borrow().get(name) {
            return *found;
        }
        let found = self.may_find(vendor, name);
        if name.len() <= REPEATED_BYTES_MAX {
            self.looked_for.borrow_mut().insert(name.to_owned(), found);
        }
        found
    }

    /// True if the program may find a file of this name. Gemini CLI finds a name anywhere in a
    /// path. Claude Code may have changed to a subfolder, so any path that ends with the name
    /// counts. If the working folder is not known or cannot be read, each name counts as found.
    fn may_find(&self, vendor: Vendor, name: &str) -> bool {
        let Some(work) = &self.places.work else { return true };
        if name.split('/').any(|part| part.len() > NAME_BYTES_MAX) {
            return false;
        }
        if may_be_there(&work.join(name)) {
            return true;
        }
        let files = self.files.get_or_init(|| files_below(work).ok().map(Files::of));
        let Some(files) = files else { return true };
        let sought = name.to_lowercase();
        let sought = sought.trim_start_matches("./").trim_end_matches('/');
        match vendor {
            Vendor::Gemini => files.may_hold(sought),
            Vendor::Claude | Vendor::Codex | Vendor::Other => files.end_with(sought),
        }
    }

    /// Returns the folders in which Codex looks for skills.
    fn skill_folders(&self) -> Vec<PathBuf> {
        let own = |home: &PathBuf| home.join(".codex");
        let codex = self.places.codex.clone().or_else(|| self.places.home.as_ref().map(own));
        let above = self.places.work.iter().flat_map(|work| work.ancestors());
        let near = above.chain(self.places.home.as_deref());
        let near =
            near.flat_map(|folder| [".agents/skills", ".codex/skills"].map(|at| folder.join(at)));
        let own = codex.iter().flat_map(|own| ["skills", "plugins"].map(|at| own.join(at)));
        own.chain(near).chain([PathBuf::from("/etc/codex/skills")]).collect()
    }

    /// Returns the folders in which Gemini CLI looks for agents.
    fn agent_folders(&self) -> Vec<PathBuf> {
        let near = self.places.work.iter().chain(&self.places.home);
        near.flat_map(|folder| [".gemini/agents", ".gemini/extensions"].map(|at| folder.join(at)))
            .collect()
    }

    /// Returns the names of Markdown files below these folders: those in their front matter, and
    /// those of the files and their folders. Fails if the working or home folder is not known, or
    /// if a file or folder cannot be read.
    fn names(&self, folders: &[PathBuf]) -> io::Result<BTreeSet<String>> {
        if self.places.work.is_none() || self.places.home.is_none() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let mut names = BTreeSet::new();
        for folder in folders {
            for file in markdown_below(folder)? {
                let parts = [file.file_stem(), file.parent().and_then(Path::file_name)];
                names.extend(
                    parts.into_iter().flatten().map(|part| part.to_string_lossy().into_owned()),
                );
                names.extend(given_name(&beginning(&file)?));
            }
        }
        Ok(names)
    }
}

/// The paths of files and folders, prepared for comparison.
struct Files {
    paths: Vec<String>,
    /// The bytes of each path in reverse, sorted.
    backwards: Vec<Vec<u8>>,
    /// Number of comparisons left.
    left: Cell<usize>,
}

impl Files {
    fn of(paths: Vec<String>) -> Self {
        let mut backwards: Vec<Vec<u8>> = paths.iter().map(|path| reversed(path)).collect();
        backwards.sort_unstable();
        Self { paths, backwards, left: Cell::new(COMPARED_MAX) }
    }

    /// True if a path contains a name, or if too many comparisons were made.
    fn may_hold(&self, name: &str) -> bool {
        let Some(left) = self.left.get().checked_sub(self.paths.len()) else { return true };
        self.left.set(left);
        self.paths.iter().any(|path| path.contains(name))
    }

    /// True if a path is the name, or ends with `/` and the name.
    fn end_with(&self, name: &str) -> bool {
        let name = reversed(name);
        let below = [name.as_slice(), b"/"].concat();
        let from = self.backwards.partition_point(|path| path.as_slice() < below.as_slice());
        self.backwards.get(from).is_some_and(|path| path.starts_with(&below))
            || self.backwards.binary_search(&name).is_ok()
    }
}

fn reversed(path: &str) -> Vec<u8> {
    path.bytes().rev().collect()
}

fn holds(known: Option<&BTreeSet<String>>, names: &[String]) -> bool {
    known.is_none_or(|known| names.iter().any(|name| known.contains(name)))
}

/// False only if the system says that the path does not exist. An unreadable folder counts as true.
fn may_be_there(path: &Path) -> bool {
    use io::ErrorKind::{InvalidFilename, NotADirectory, NotFound};
    match fs::symlink_metadata(path) {
        Ok(_) => true,
        Err(error) => !matches!(error.kind(), NotFound | NotADirectory | InvalidFilename),
    }
}

/// Reads the beginning of a plain file. Anything else counts as empty, because a device or a pipe
/// might never end.
fn beginning(file: &Path) -> io::Result<String> {
    // Before the file is opened, because to open some devices has an effect, and a link of another
    // user may lead to one.
    if !fs::metadata(file)?.is_file() {
        return Ok(String::new());
    }
    let file = fs::File::options().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(file)?;
    if !file.metadata()?.is_file() {
        return Ok(String::new());
    }
    let mut bytes = Vec::new();
    file.take(BEGINNING_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the `name` in a front matter.
fn given_name(text: &str) -> Option<String> {
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    lines.next().filter(|line| line.trim_end() == "---")?;
    let named = lines
        .take_while(|line| line.trim_end() != "---")
        .find_map(|line| line.strip_prefix("name:"))?;
    Some(named.trim().trim_matches(['"', '\'']).to_owned())
}

/// Returns the paths below a folder, prepared for comparison. Links are not followed.
fn files_below(root: &Path) -> io::Result<Vec<String>> {
    let mut files = Vec::new();
    walk(root, DEPTH_MAX, &mut |path, kind| {
        if let Ok(below) = path.strip_prefix(root) {
            files.push(below.to_string_lossy().to_lowercase());
        }
        let is_skipped = path.file_name().is_some_and(|name| SKIPPED.iter().any(|at| *at == name));
        kind.is_dir() && !is_skipped
    })?;
    Ok(files)
}

/// Returns the Markdown files below a folder, if it exists. Links are followed, as skills often are
/// links.
fn markdown_below(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    walk(root, LINKED_DEPTH_MAX, &mut |path, _| {
        let is_folder = fs::metadata(path).is_ok_and(|it| it.is_dir());
        if !is_folder && path.extension().is_some_and(|end| end == "md") {
            files.push(path.to_owned());
        }
        is_folder
    })?;
    Ok(files)
}

/// Visits each entry below a folder, and enters those for which `visit` returns true.
fn walk(
    root: &Path,
    depth_max: usize,
    visit: &mut dyn FnMut(&Path, fs::FileType) -> bool,
) -> io::Result<()> {
    let (mut folders, mut left) = (vec![(root.to_owned(), 0)], FILES_MAX);
    while let Some((folder, depth)) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            left = left.checked_sub(1).ok_or(io::ErrorKind::FileTooLarge)?;
            if visit(&entry.path(), entry.file_type()?) && depth < depth_max {
                folders.push((entry.path(), depth + 1));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_by_its_end_behind_a_slash() {
        let paths = ["src", "src/main.rs", "docs/a/readme.md", "x-readme.md"];
        let files = Files::of(paths.map(str::to_owned).into());
        for name in ["src", "main.rs", "src/main.rs", "a/readme.md", "readme.md", "x-readme.md"] {
            assert!(files.end_with(name), "{name}");
        }
        for name in ["rc", "ain.rs", "main", "readme", "/src", "", "docs/readme.md", "src/"] {
            assert!(!files.end_with(name), "{name}");
        }
    }

    #[test]
    fn what_is_compared_is_counted_and_the_rest_counts_as_found() {
        let files = Files::of((0..1000).map(|at| format!("file{at}")).collect());
        let often = COMPARED_MAX / 1000;
        assert!((0..often).all(|at| !files.may_hold(&format!("none{at}"))));
        assert!(files.may_hold("none"));
        let many = Nearby::of(Places { work: Some("/nowhere".into()), ..Places::default() });
        many.files.get_or_init(|| Some(Files::of(vec!["file".into()])));
        for _ in 0..3 {
            assert!(!many.may_find_once(Vendor::Gemini, "none"));
        }
        let files = many.files.get().and_then(Option::as_ref);
        assert_eq!(files.map(|files| files.left.get()), Some(COMPARED_MAX - 1), "looked for once");
    }
}
