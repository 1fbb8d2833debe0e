//! The layers read again, while the settings are in use.

use crate::loading::{self, Inputs, Loaded};
use crate::problem::Problems;
use crate::table::PROXY_INSTRUCTIONS_FILE;

/// What came of reading the layers again.
#[derive(Debug, Clone)]
pub struct Reloaded {
    /// What counts from now on.
    pub loaded: Loaded,
    /// `NAME=value` of what counts now and did not before; secrets are hidden.
    pub changed: Vec<String>,
    /// Names of settings that have a new value, which counts at the next start.
    pub at_next_start: Vec<&'static str>,
}

/// Reads every layer again. What may change while we run counts from now on; everything else stays
/// as it was in `running`.
///
/// # Errors
/// With everything that is wrong, also with settings that count at the next start only: what the
/// next start would refuse is refused now.
pub fn reload(inputs: &Inputs, running: &Loaded) -> Result<Reloaded, Problems> {
    let Loaded { settings, warnings, files } =
        loading::load_with(inputs, running.files.config.as_ref())?;
    let mut values = settings.values;
    let at_next_start = values.keep_until_start(&running.settings.values);
    let loaded = loading::finish(values, Vec::new(), warnings, files)?;
    let mut changed = loaded.settings.values.differing(&running.settings.values);
    let instructions = |loaded: &Loaded| loaded.settings.turns.instructions.clone();
    let file = PROXY_INSTRUCTIONS_FILE.name;
    if instructions(&loaded) != instructions(running)
        && !changed.iter().any(|change| change.starts_with(file))
    {
        changed.push(format!("{file} (its text)"));
    }
    Ok(Reloaded { loaded, changed, at_next_start })
}

#[cfg(test)]
mod tests;
