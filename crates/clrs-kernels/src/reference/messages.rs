//! Reference of [`crate::messages`].

use super::{ReferenceOp, add, matvec, matvec_backward, max_with_gap, min_abs, relu, relu_backward};

/// Reference of [`crate::messages`]. Inputs: receivers, senders, edge features, then the weights in the order of
/// [`crate::messages::Weights`].
#[derive(Clone, Debug)]
pub struct Messages {
    /// Number of nodes.
    pub nodes: usize,
    /// Hidden elements.
    pub hidden: usize,
    /// Features per edge.
    pub channels: usize,
    /// Which messages exist, `[N, N]`, sender first.
    pub adjacency: Vec<bool>,
    /// Whether a message that does not exist counts as -1e6.
    pub masked: bool,
}

/// Values of all messages, sender first.
struct Layers {
    raw: Vec<Vec<f64>>,
    before: Vec<Vec<f64>>,
    first: Vec<Vec<f64>>,
    middle: Vec<Vec<f64>>,
    second: Vec<Vec<f64>>,
    message: Vec<Vec<f64>>,
}

impl Messages {
    fn layers(&self, inputs: &[Vec<f64>]) -> Layers {
        let (n, h, c) = (self.nodes, self.hidden, self.channels);
        let [receivers, senders, edges, edge, middle, hidden_bias, last] = inputs else { panic!("seven inputs") };
        let pairs: Vec<(usize, usize)> = (0..n * n).map(|pair| (pair / n, pair % n)).collect();
        let raw: Vec<Vec<f64>> = (0..n * n).map(|pair| edges[pair * c..][..c].to_vec()).collect();
        let before: Vec<Vec<f64>> = pairs
            .iter()
            .map(|&(x, y)| {
                let mut sum = matvec(&raw[x * n + y], edge, h);
                add(&mut sum, &receivers[y * h..][..h]);
                add(&mut sum, &senders[x * h..][..h]);
                sum
            })
            .collect();
        let first: Vec<Vec<f64>> = before.iter().map(|x| relu(x)).collect();
        let middle: Vec<Vec<f64>> = first
            .iter()
            .map(|x| {
                let mut sum = matvec(x, middle, h);
                add(&mut sum, hidden_bias);
                sum
            })
            .collect();
        let second: Vec<Vec<f64>> = middle.iter().map(|x| relu(x)).collect();
        let message = second.iter().map(|x| matvec(x, last, h)).collect();
        Layers { raw, before, first, middle, second, message }
    }

    /// The sender of the maximum in a channel of receiver `y`, or `None` for the mask value; the maximum; and its margin.
    fn argmax(&self, layers: &Layers, y: usize, channel: usize) -> (Option<usize>, f64, f64) {
        let n = self.nodes;
        let has_masked = (0..n).any(|x| !self.adjacency[x * n + y]) && self.masked;
        let senders: Vec<usize> = (0..n).filter(|x| self.adjacency[x * n + y]).collect();
        let values = senders.iter().map(|x| layers.message[x * n + y][channel]);
        let (index, value, gap) = max_with_gap(values.chain(has_masked.then_some(-1e6)));
        (senders.get(index).copied(), value, gap)
    }
}

impl ReferenceOp for Messages {
    fn inputs(&self) -> Vec<(&'static str, usize)> {
        let (n, h, c) = (self.nodes, self.hidden, self.channels);
        vec![
            ("receivers", n * h),
            ("senders", n * h),
            ("edge_features", n * n * c),
            ("edge_weight", c * h),
            ("hidden_weight", h * h),
            ("hidden_bias", h),
            ("output_weight", h * h),
        ]
    }

    fn forward(&self, inputs: &[Vec<f64>]) -> (Vec<f64>, f64) {
        let layers = self.layers(inputs);
        let messages = self.adjacency.iter().zip(layers.before.iter().zip(&layers.middle));
        let sides = messages.filter(|(exists, _)| **exists).map(|(_, (a, b))| min_abs(a).min(min_abs(b)));
        let mut margin = sides.fold(f64::INFINITY, f64::min);
        let mut out = Vec::new();
        for y in 0..self.nodes {
            for channel in 0..self.hidden {
                let (_, value, gap) = self.argmax(&layers, y, channel);
                out.push(value);
                margin = margin.min(gap);
            }
        }
        (out, margin)
    }

    fn backward(&self, inputs: &[Vec<f64>], d_output: &[f64]) -> Vec<Vec<f64>> {
        let (n, h, c) = (self.nodes, self.hidden, self.channels);
        let layers = self.layers(inputs);
        let [_, _, _, edge, middle, _, last] = inputs else { panic!("seven inputs") };
        let mut d_message = vec![vec![0.0; h]; n * n];
        for y in 0..n {
            for channel in 0..h {
                if let (Some(x), _, _) = self.argmax(&layers, y, channel) {
                    d_message[x * n + y][channel] = d_output[y * h + channel];
                }
            }
        }
        let mut d: Vec<Vec<f64>> = self.inputs().iter().map(|&(_, len)| vec![0.0; len]).collect();
        for x in 0..n {
            for y in 0..n {
                let pair = x * n + y;
                let d_second = matvec_backward(&layers.second[pair], last, &d_message[pair], &mut d[6]);
                let d_middle = relu_backward(&layers.second[pair], &d_second);
                add(&mut d[5], &d_middle);
                let d_first = matvec_backward(&layers.first[pair], middle, &d_middle, &mut d[4]);
                let d_before = relu_backward(&layers.first[pair], &d_first);
                let d_raw = matvec_backward(&layers.raw[pair], edge, &d_before, &mut d[3]);
                add(&mut d[2][pair * c..][..c], &d_raw);
                add(&mut d[1][x * h..][..h], &d_before);
                add(&mut d[0][y * h..][..h], &d_before);
            }
        }
        d
    }
}
