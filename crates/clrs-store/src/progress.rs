/// Receives progress of [`generate`](crate::generate::generate), exports and imports, from any thread.
///
/// `()` ignores all of it.
pub trait Progress: Sync {
    /// `count` more samples of the set called `name` are done.
    fn add_samples(&self, name: &str, count: usize);

    /// The set called `name` is complete.
    fn finish_set(&self, name: &str);

    /// Whether to stop at the next opportunity. Files that are not complete by then do not appear.
    fn is_cancelled(&self) -> bool;
}

impl Progress for () {
    fn add_samples(&self, _name: &str, _count: usize) {}

    fn finish_set(&self, _name: &str) {}

    fn is_cancelled(&self) -> bool {
        false
    }
}
