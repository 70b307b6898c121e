//! What can become what, and who does it.
