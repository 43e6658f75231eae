//! What all searches in depth have in common: the colors, the stack and the clock.
//!
//! There is no recursion, since the stack is part of what the algorithms tell: the list from `s_last` along `s_prev`.

use crate::problems::Matrix;

/// Not seen yet.
pub const WHITE: usize = 0;
/// Seen, and on the stack.
pub const GRAY: usize = 1;
/// Finished.
pub const BLACK: usize = 2;

/// Where a search stands.
pub struct Walk {
    /// White, gray or black.
    pub color: Vec<usize>,
    /// Node below on the stack, itself at the bottom or off the stack.
    pub s_prev: Vec<usize>,
    /// Root of the current tree.
    pub s: usize,
    /// Node being worked on.
    pub u: usize,
    /// Neighbour being looked at.
    pub v: usize,
    /// Top of the stack.
    pub s_last: usize,
    /// All neighbours before this one are known not to be white.
    next: Vec<usize>,
}

impl Walk {
    /// Before the first tree.
    pub fn new(n: usize) -> Walk {
        Walk { color: vec![WHITE; n], s_prev: (0..n).collect(), s: 0, u: 0, v: 0, s_last: 0, next: vec![0; n] }
    }

    /// Begins a tree: its root is alone on the stack, and still white.
    pub fn begin(&mut self, root: usize) {
        (self.s, self.u, self.v, self.s_last) = (root, root, root, root);
    }

    /// Puts the first white neighbour of `u` on the stack. Where there is none, the last node was looked at last.
    ///
    /// The reference starts over at node 0 after each return; what was passed before is not white, so going on finds the same.
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

    /// Puts a white node on the stack.
    pub fn push(&mut self, v: usize) {
        self.color[v] = GRAY;
        self.s_prev[v] = self.s_last;
        self.s_last = v;
    }

    /// Goes on with the node that was put on the stack.
    pub fn descend(&mut self) {
        self.u = self.s_last;
    }

    /// Takes `u` off the stack and goes on with the node below; `false` if there is none.
    pub fn ascend(&mut self) -> bool {
        let below = std::mem::replace(&mut self.s_prev[self.u], self.u);
        let root = below == self.u;
        (self.u, self.s_last) = (below, below);
        !root
    }
}

/// When nodes were discovered and finished; 0 where that is still to come.
pub struct Clock {
    /// Time of discovery.
    pub d: Vec<f64>,
    /// Time of finishing.
    pub f: Vec<f64>,
    /// Now.
    pub time: f64,
}

impl Clock {
    /// The reference counts time in hundredths, summed one by one: the rounding is part of the data.
    pub const TICK: f64 = 0.01;

    /// At the start.
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
