//! Shared state of all depth-first searches: colors, stack and clock.
//!
//! The search is not recursive because the stack is recorded: it is the list from `s_last` along `s_prev`.

use crate::problems::Matrix;

/// Not discovered yet.
pub const WHITE: usize = 0;
/// Discovered, and on the stack.
pub const GRAY: usize = 1;
/// Finished.
pub const BLACK: usize = 2;

/// State of a search.
pub struct Walk {
    /// White, gray or black.
    pub color: Vec<usize>,
    /// Next node below on the stack; the node itself at the bottom or off the stack.
    pub s_prev: Vec<usize>,
    /// Root of the current tree.
    pub s: usize,
    /// Current node.
    pub u: usize,
    /// Current neighbor.
    pub v: usize,
    /// Top of the stack.
    pub s_last: usize,
    /// All neighbors before this one are not white.
    next: Vec<usize>,
}

impl Walk {
    /// Creates the state before the first tree.
    pub fn new(n: usize) -> Walk {
        Walk { color: vec![WHITE; n], s_prev: (0..n).collect(), s: 0, u: 0, v: 0, s_last: 0, next: vec![0; n] }
    }

    /// Starts a tree: its root, still white, is alone on the stack.
    pub fn begin(&mut self, root: usize) {
        (self.s, self.u, self.v, self.s_last) = (root, root, root, root);
    }

    /// Pushes the first white neighbor of `u`. If there is none, `v` becomes the last node, as in dm-clrs.
    ///
    /// dm-clrs restarts at node 0 after each return. Earlier neighbors are not white, so continuing is equivalent.
    pub fn push_white(&mut self, weights: &Matrix) -> Option<usize> {
        let (u, n) = (self.u, weights.n());
        let white = (self.next[u]..n).find(|&v| weights.has_edge(u, v) && self.color[v] == WHITE);
        self.next[u] = white.map_or(n, |v| v + 1);
        self.v = white.unwrap_or(n - 1);
        if let Some(v) = white {
            self.push(v);
        }
        white
    }

    /// Pushes a white node.
    pub fn push(&mut self, v: usize) {
        self.color[v] = GRAY;
        self.s_prev[v] = self.s_last;
        self.s_last = v;
    }

    /// Continues with the top of the stack.
    pub fn descend(&mut self) {
        self.u = self.s_last;
    }

    /// Pops `u` and continues with the node below. Returns `false` if there is none.
    pub fn ascend(&mut self) -> bool {
        let below = std::mem::replace(&mut self.s_prev[self.u], self.u);
        let root = below == self.u;
        (self.u, self.s_last) = (below, below);
        !root
    }
}

/// Discovery and finishing times of the nodes; 0 before.
pub struct Clock {
    /// Discovery times.
    pub d: Vec<f64>,
    /// Finishing times.
    pub f: Vec<f64>,
    /// Current time.
    pub time: f64,
}

impl Clock {
    /// dm-clrs advances time in steps of 0.01. The rounding errors of the sum are part of the data.
    pub const TICK: f64 = 0.01;

    /// Creates a clock at time 0.
    pub fn new(n: usize) -> Clock {
        Clock { d: vec![0.0; n], f: vec![0.0; n], time: 0.0 }
    }

    /// Discovers a node.
    pub fn discover(&mut self, u: usize) {
        self.time += Clock::TICK;
        self.d[u] = self.time;
    }

    /// Finishes a node.
    pub fn finish(&mut self, u: usize) {
        self.time += Clock::TICK;
        self.f[u] = self.time;
    }
}
