//! From the layers to the settings.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use etcetera::base_strategy::{BaseStrategy as _, choose_native_strategy};

use bridge::TurnSettings;

use crate::files::{ConfigFile, Files};
use crate::kind::Kind;
use crate::problem::{Problem, Problems, Warning};
use crate::replaced::replacement;
use crate::settings::Settings;
use crate::source::Source;
use crate::table::{
    PORT, PROXY_CODEX_HOME, PROXY_CONFIG, PROXY_DATA_DIR, PROXY_HOST, PROXY_INSTRUCTIONS_FILE,
    VARIABLES,
};
use crate::value::Value;
use crate::values::Values;
use crate::variable::Variable;
use crate::{dotenv, toml_file, trusted};

/// What the command line says.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// `--port`
    pub port: Option<String>,
    /// `--host`
    pub host: Option<String>,
    /// `--config`
    pub config: Option<String>,
    /// `--env-file`
    pub env_file: Option<PathBuf>,
}

/// Everything that the settings are made from.
#[derive(Debug, Clone)]
pub struct Inputs {
    /// The environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Where relative paths of the command line begin. Nothing in it is read unless it is named.
    pub working_folder: PathBuf,
    /// The platform's folder for the data of this user.
    pub user_data: Option<PathBuf>,
    /// The command line.
    pub flags: Flags,
}

/// Settings that can be used.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// What they come to.
    pub settings: Settings,
    /// What is odd about them.
    pub warnings: Vec<Warning>,
    /// Where they were read.
    pub(crate) files: Files,
}

/// A text for a name.
struct Given {
    name: String,
    text: String,
    from: Source,
}

/// The layers, as far as they were read.
struct Reader {
    values: Values,
    problems: Vec<Problem>,
    warnings: Vec<Warning>,
}

/// Reads every layer.
///
/// # Errors
/// With everything that is wrong.
pub fn load(inputs: &Inputs) -> Result<Loaded, Problems> {
    load_with(inputs, None)
}

/// How answers are made where all settings but this one are as by default.
///
/// # Errors
/// If the setting may not hold this value.
pub fn turns_with(name: &str, text: &str) -> Result<TurnSettings, Problems> {
    let mut reader =
        Reader { values: Values::defaults(), problems: Vec::new(), warnings: Vec::new() };
    reader.take(name, text, Source::Flag("--set"));
    if !reader.problems.is_empty() {
        return Err(Problems(reader.problems));
    }
    Ok(Settings::read(reader.values).0.turns)
}

/// The same, with the TOML file of an earlier time, if there was an earlier time.
pub(crate) fn load_with(inputs: &Inputs, earlier: Option<&ConfigFile>) -> Result<Loaded, Problems> {
    let mut reader =
        Reader { values: Values::defaults(), problems: Vec::new(), warnings: Vec::new() };
    let dotenv = inputs.env_file();
    let lines = match &dotenv {
        Some(path) => reader.dotenv(path),
        None => reader.no_dotenv(&inputs.working_folder),
    };
    let environment = reader.environment(&inputs.environment);
    let flags = inputs.flags.given();
    // Where the file is, only the other layers can say.
    let upper: Vec<Given> = lines.into_iter().chain(environment).chain(flags).collect();
    let found = || config_file(&upper, inputs.user_data.as_deref());
    let config = earlier.cloned().or_else(found);
    if let Some(file) = config.as_ref().filter(|file| file.is_expected()) {
        reader.file(file.path());
    }
    for Given { name, text, from } in upper {
        reader.take(&name, &text, from);
    }
    reader.name_folders(inputs.user_data.as_deref());
    reader.check_data_folder();
    let Reader { values, problems, warnings } = reader;
    finish(values, problems, warnings, Files { dotenv, config })
}

/// From values to settings.
pub(crate) fn finish(
    values: Values,
    mut problems: Vec<Problem>,
    warnings: Vec<Warning>,
    files: Files,
) -> Result<Loaded, Problems> {
    let (settings, more) = Settings::read(values);
    problems.extend(more);
    if !problems.is_empty() {
        return Err(Problems(problems));
    }
    Ok(Loaded { settings, warnings, files })
}

fn config_file(upper: &[Given], user_data: Option<&Path>) -> Option<ConfigFile> {
    let path = |variable: &Variable| {
        let texts =
            upper.iter().filter(|given| given.name == variable.name).map(|given| &given.text);
        texts.map(|text| text.trim()).rfind(|text| !text.is_empty()).map(PathBuf::from)
    };
    path(&PROXY_CONFIG).map(ConfigFile::Named).or_else(|| {
        let folder = path(&PROXY_DATA_DIR).or_else(|| user_data.map(data_folder))?;
        Some(ConfigFile::Usual(folder.join("config.toml")))
    })
}

fn data_folder(user_data: &Path) -> PathBuf {
    user_data.join("codex-completions")
}

// === impl Loaded ===

impl Loaded {
    /// The files that settings were read from, or would be if they were there.
    pub fn sources(&self) -> Vec<PathBuf> {
        let Files { dotenv, config } = &self.files;
        let config = config.as_ref().map(|file| file.path().to_owned());
        let instructions = self.settings.values.path(&PROXY_INSTRUCTIONS_FILE);
        [dotenv.clone(), config, instructions].into_iter().flatten().collect()
    }
}

// === impl Flags ===

impl Flags {
    fn given(&self) -> Vec<Given> {
        let flags = [
            (&PORT, "--port", &self.port),
            (&PROXY_HOST, "--host", &self.host),
            (&PROXY_CONFIG, "--config", &self.config),
        ];
        let given = flags.into_iter().filter_map(|(variable, flag, text)| {
            let (name, from) = (variable.name.to_owned(), Source::Flag(flag));
            Some(Given { name, text: text.clone()?, from })
        });
        given.collect()
    }
}

// === impl Inputs ===

impl Inputs {
    /// Those of this process.
    pub fn of_process(flags: Flags) -> Self {
        Self {
            environment: std::env::vars_os().collect(),
            working_folder: std::env::current_dir().unwrap_or_default(),
            // A relative home would put the data folder into the working folder.
            user_data: choose_native_strategy()
                .ok()
                .map(|folders| folders.data_dir())
                .filter(|folder| folder.is_absolute()),
            flags,
        }
    }

    /// The file of `--env-file`, wherever it was named from.
    fn env_file(&self) -> Option<PathBuf> {
        let named = self.flags.env_file.as_ref()?;
        Some(self.working_folder.join(named).components().collect())
    }
}

// === impl Reader ===

impl Reader {
    fn dotenv(&mut self, path: &Path) -> Vec<Given> {
        let (lines, problems) = dotenv::read(path);
        self.problems.extend(problems);
        let from = Source::DotEnv(path.to_owned());
        let given = lines.into_iter().map(|(name, text)| {
            let text = match variable(&name) {
                Some(variable) => beside(path, variable, text),
                None => text,
            };
            Given { name, text, from: from.clone() }
        });
        given.collect()
    }

    /// A `.env` in the working folder may be a stranger's, as in a clone: it is not even opened.
    fn no_dotenv(&mut self, working_folder: &Path) -> Vec<Given> {
        let path = working_folder.join(".env");
        if path.symlink_metadata().is_ok() {
            self.warnings.push(Warning::NotRead { path });
        }
        Vec::new()
    }

    fn environment(&mut self, environment: &[(OsString, OsString)]) -> Vec<Given> {
        let mut given = Vec::new();
        for (name, text) in environment {
            let Some(name) = name.to_str() else { continue };
            // A user of Codex may well have it, and it is not meant for us.
            if name == "CODEX_HOME" {
                continue;
            }
            match (text.to_str(), variable(name)) {
                (Some(text), _) => given.push(Given {
                    name: name.to_owned(),
                    text: text.to_owned(),
                    from: Source::Environment,
                }),
                (None, Some(variable)) => self.problems.push(Problem::Value {
                    name: variable.name,
                    value: "(not UTF-8)".to_owned(),
                    bad_entry: None,
                    allowed: variable.allowed(),
                    from: Source::Environment,
                }),
                (None, None) => {}
            }
        }
        // The system's order means nothing.
        given.sort_by(|one, other| one.name.cmp(&other.name));
        given
    }

    /// Whoever can write there could do as if he were us.
    fn check_data_folder(&mut self) {
        let Some(path) = self.values.path(&PROXY_DATA_DIR) else { return };
        if let Err(error) = trusted::check_folder(&path) {
            let reason = format!("{error}; choose another folder (PROXY_DATA_DIR)");
            self.problems.push(Problem::File { path, reason });
        }
    }

    fn file(&mut self, path: &Path) {
        let (settings, problems) = toml_file::read(path);
        self.problems.extend(problems);
        for (variable, text) in settings {
            let text = beside(path, variable, text);
            self.set(variable, &text, Source::File(path.to_owned()));
        }
    }

    /// A name that is not ours is somebody else's, unless it looks like ours.
    fn take(&mut self, name: &str, text: &str, from: Source) {
        if let Some(variable) = variable(name) {
            self.set(variable, text, from);
        } else if let Some((name, instead)) = replacement(name) {
            if !text.trim().is_empty() {
                self.warnings.push(Warning::Replaced { name, instead, from });
            }
        } else if name.starts_with("PROXY_") || name.starts_with("WORKER_") {
            let names = VARIABLES.iter().map(|variable| variable.name.to_owned());
            self.problems.push(Problem::unknown(name, names, from));
        }
    }

    fn set(&mut self, variable: &'static Variable, text: &str, from: Source) {
        match variable.kind.read(text) {
            Ok(Value::Unset) => {}
            Ok(value) => self.values.set(variable, value, from),
            Err(invalid) => self.problems.push(Problem::Value {
                name: variable.name,
                value: variable.kind.quote(text),
                bad_entry: invalid.entry,
                allowed: variable.allowed(),
                from,
            }),
        }
    }

    /// Folders that depend on the machine get their names.
    fn name_folders(&mut self, user_data: Option<&Path>) {
        let Some(data) = self.values.path(&PROXY_DATA_DIR).or_else(|| user_data.map(data_folder))
        else {
            let words = "there is no data folder for this user; set PROXY_DATA_DIR";
            self.problems.push(Problem::Conflict(words.to_owned()));
            return;
        };
        for (variable, path) in
            [(&PROXY_CODEX_HOME, data.join("codex-home")), (&PROXY_DATA_DIR, data)]
        {
            if self.values.text(variable).is_none() {
                let value = Value::Text(path.to_string_lossy().into_owned());
                self.values.set(variable, value, Source::Default);
            }
        }
    }
}

/// A relative path in a file begins at the folder of that file: the working folder must not choose what it leads to.
fn beside(file: &Path, variable: &Variable, text: String) -> String {
    let is_path = variable.kind == Kind::Path && !text.trim().is_empty();
    match file.parent() {
        Some(folder) if is_path => folder.join(text.trim()).to_string_lossy().into_owned(),
        _ => text,
    }
}

fn variable(name: &str) -> Option<&'static Variable> {
    VARIABLES.iter().copied().find(|variable| variable.name == name)
}

#[cfg(test)]
mod tests;
