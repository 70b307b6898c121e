//! One job's run: Fetch, Assemble, Render, Publish.
