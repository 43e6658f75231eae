//! Which messages there are, in the order in which they are computed: by receiver, then by sender.

/// From whom a node hears.
#[derive(Clone, Copy, Debug)]
pub enum Adjacency<'a> {
    /// From every node.
    Full,
    /// From itself only.
    SelfLoops,
    /// From its neighbours: of `[n, n]`, sender first, those that are true.
    Mask(&'a [bool]),
}

/// The way of a message.
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
    Neighbours,
    All,
    Itself,
}

impl EdgeList {
    pub(crate) fn set(&mut self, nodes: usize, senders: Adjacency<'_>) {
        let kind = match senders {
            Adjacency::Full => Kind::All,
            Adjacency::SelfLoops => Kind::Itself,
            Adjacency::Mask(_) => Kind::Neighbours,
        };
        if self.nodes == nodes && self.kind == kind && kind != Kind::Neighbours {
            return;
        }
        let last = u16::try_from(nodes).ok().filter(|&nodes| nodes < u16::MAX).expect("less than 65535 nodes");
        (self.nodes, self.kind) = (nodes, kind);
        self.edges.clear();
        self.start.clear();
        self.start.push(0);
        for receiver in 0..last {
            match senders {
                Adjacency::Full => self.edges.extend((0..last).map(|sender| Edge { sender, receiver })),
                Adjacency::SelfLoops => self.edges.push(Edge { sender: receiver, receiver }),
                Adjacency::Mask(of) => {
                    let heard = |&sender: &u16| of[usize::from(sender) * nodes + usize::from(receiver)];
                    self.edges.extend((0..last).filter(heard).map(|sender| Edge { sender, receiver }));
                }
            }
            self.start.push(u32::try_from(self.edges.len()).expect("less than 65535 squared"));
        }
    }

    /// Whether a node could have heard from more nodes, so that their silence takes part in the maximum.
    pub(crate) fn is_masked(&self, receiver: usize) -> bool {
        self.kind == Kind::Neighbours && ((self.start[receiver + 1] - self.start[receiver]) as usize) < self.nodes
    }
}
