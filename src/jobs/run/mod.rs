//! One job in memory: its actor, its run, and what they report. The registry starts the actor and is the only one that
//! sends it `messages`; `notices` go back to the registry.

pub(super) mod actor;
mod attempt;
pub(super) mod messages;
pub(super) mod notices;
