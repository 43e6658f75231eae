//! The messages of a step, in the order in which they are computed: by receiver, then by sender.

/// The senders that a node receives messages from.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Adjacency<'a> {
    /// All nodes.
    Full,
    /// The node itself only.
    SelfLoops,
    /// The nodes where `[N, N]`, sender first, is true. All others are masked: they count as -1e6.
    Mask(&'a [bool]),
}

/// A message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) sender: u16,
    pub(crate) receiver: u16,
}

/// All messages of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct EdgeList {
    pub(crate) nodes: usize,
    pub(crate) edges: Vec<Edge>,
    /// The messages to `y` are `start[y]..start[y + 1]`.
    pub(crate) start: Vec<u32>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Mask,
    Full,
    SelfLoops,
}

impl EdgeList {
    pub(crate) fn set(&mut self, nodes: usize, adjacency: Adjacency<'_>) {
        let kind = match adjacency {
            Adjacency::Full => Kind::Full,
            Adjacency::SelfLoops => Kind::SelfLoops,
            Adjacency::Mask(_) => Kind::Mask,
        };
        if self.nodes == nodes && self.kind == kind && kind != Kind::Mask {
            return;
        }
        let last = u16::try_from(nodes).ok().filter(|&nodes| nodes < u16::MAX).expect("fewer than 65535 nodes");
        (self.nodes, self.kind) = (nodes, kind);
        self.edges.clear();
        self.start.clear();
        self.start.push(0);
        for receiver in 0..last {
            match adjacency {
                Adjacency::Full => self.edges.extend((0..last).map(|sender| Edge { sender, receiver })),
                Adjacency::SelfLoops => self.edges.push(Edge { sender: receiver, receiver }),
                Adjacency::Mask(mask) => {
                    let is_neighbor = |&sender: &u16| mask[usize::from(sender) * nodes + usize::from(receiver)];
                    self.edges.extend((0..last).filter(is_neighbor).map(|sender| Edge { sender, receiver }));
                }
            }
            self.start.push(u32::try_from(self.edges.len()).expect("fewer than 65535 squared"));
        }
    }

    /// Whether a receiver has masked senders, so that the mask value takes part in the maximum.
    pub(crate) fn is_masked(&self, receiver: usize) -> bool {
        self.kind == Kind::Mask && ((self.start[receiver + 1] - self.start[receiver]) as usize) < self.nodes
    }
}
