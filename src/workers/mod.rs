//! Supervised, caged child processes: everything that reads a template.
