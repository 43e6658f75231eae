//! Searching and selecting.
