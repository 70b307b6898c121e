//! Engines: how many heavy programs run at once, on how many cores, and how large the files between their steps may be.

use serde::Deserialize;

use super::SettingErrors;

/// Upper bound of `cores` and of each engine's slots.
const LIMIT: u64 = 1_024;

/// Section `[engines]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnginesConfig {
    /// Cores that the programs of heavy engines use at once, all together; 0: one more than the machine has, and the
    /// one is left to other accounts.
    pub cores: u64,
    /// Programs of one engine at once (one account: all but a quarter), instead of the engine's own number:
    /// `engine=count`.
    pub slots: Vec<String>,
    /// Jobs that made way for other accounts and go on beside an engine's slots, the tabs, the processes of template code; 0: as
    /// many as there are of each.
    pub overflow_slots: u64,
    /// How long a job holds a slot, a core, a tab or its turn before it makes way for another account that waits.
    pub make_way_after_ms: u64,
    /// Largest file passed between two steps of a job, e.g. a PDF of which pictures are made.
    pub work_limit_mb: u64,
    /// All such files together.
    pub work_total_limit_mb: u64,
}

impl EnginesConfig {
    /// The number of slots set for an engine, if any.
    pub fn slots_of(&self, engine: &str) -> Option<usize> {
        let mut named = self.slots.iter().filter_map(|entry| parse(entry));
        named.find(|(name, _)| *name == engine).and_then(|(_, count)| usize::try_from(count).ok())
    }

    /// The first engine named in `slots` that is not in `known`.
    pub fn unknown(&self, known: &[&str]) -> Option<&str> {
        let mut names = self.slots.iter().filter_map(|entry| parse(entry)).map(|(name, _)| name);
        names.find(|name| !known.contains(name))
    }

    pub(super) fn validate(&self, errors: &mut SettingErrors) {
        errors.within("engines.cores", self.cores, 0, LIMIT);
        errors.within("engines.overflow_slots", self.overflow_slots, 0, LIMIT);
        errors.within("engines.make_way_after_ms", self.make_way_after_ms, 10, 86_400_000);
        errors.within("engines.work_limit_mb", self.work_limit_mb, 1, 1 << 20);
        errors.within("engines.work_total_limit_mb", self.work_total_limit_mb, self.work_limit_mb, 1 << 30);
        for (at, entry) in self.slots.iter().enumerate() {
            let Some((name, _)) = parse(entry) else {
                let detail = format!(
                    "'{entry}' is not of the form engine=count, with a count from 1 to {LIMIT}, e.g. \"tex=2\""
                );
                errors.add("engines.slots", detail);
                continue;
            };
            let before = self.slots.iter().take(at).filter_map(|entry| parse(entry));
            if before.into_iter().any(|(earlier, _)| earlier == name) {
                errors.add("engines.slots", format!("'{name}' is named twice; leave one of the two out"));
            }
        }
    }
}

fn parse(entry: &str) -> Option<(&str, u64)> {
    let (name, count) = entry.split_once('=')?;
    let (name, count) = (name.trim(), count.trim().parse::<u64>().ok()?);
    (!name.is_empty() && (1..=LIMIT).contains(&count)).then_some((name, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(slots: &[&str]) -> EnginesConfig {
        let slots = slots.iter().map(|&entry| entry.to_owned()).collect();
        EnginesConfig {
            slots,
            make_way_after_ms: 10,
            work_limit_mb: 1,
            work_total_limit_mb: 1,
            ..EnginesConfig::default()
        }
    }

    #[test]
    fn an_engine_has_the_slots_that_are_named_for_it() {
        let config = config(&["tex=2", " raster = 8 "]);
        assert_eq!(
            ["tex", "raster", "pandoc"].map(|engine| config.slots_of(engine)),
            [Some(2), Some(8), None]
        );
        assert_eq!(config.unknown(&["tex"]), Some("raster"));
        assert_eq!(config.unknown(&["tex", "raster"]), None);
    }

    #[test]
    fn what_is_no_count_of_an_engine_is_refused() {
        for (slots, errors) in [
            (&["tex=1", "raster=1024"][..], 0),
            (&["tex", "tex=", "=1", "tex=0", "tex=1025", "tex=-1"], 6),
            (&["tex=1", "tex = 2"], 1),
        ] {
            let mut found = SettingErrors::default();
            config(slots).validate(&mut found);
            assert_eq!(found.0.len(), errors, "{found}");
        }
    }
}
