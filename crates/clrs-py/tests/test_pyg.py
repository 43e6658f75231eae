"""Samples as graphs: batches, styles, names, and a network that learns."""

import clrs_rs
import clrs_rs.pyg as clrs_pyg
import numpy as np
import pytest
import torch
import torch_geometric
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GINEConv

#: Edges of these hints or outputs are not those of the graph.
COMPLETE = {"floyd_warshall", "strongly_connected_components"}


def graph_of(algorithm):
    return "complete" if algorithm in COMPLETE else None


@pytest.mark.parametrize("algorithm", clrs_rs.CLRS_30_ALGS)
def test_batches_shift_pointers_and_come_apart_again(algorithm):
    feedback = clrs_rs.sample(algorithm, n=6, batch=3, seed=1).feedback()
    graphs = clrs_pyg.to_data(feedback, graph=graph_of(algorithm))
    batch = Batch.from_data_list(graphs)
    nodes = graphs[0].num_nodes
    assert batch.num_graphs == 3
    stages = {"inputs": feedback.features.inputs, "hints": feedback.features.hints, "outputs": feedback.outputs}
    for stage, points in stages.items():
        kept = [point for point in points if clrs_pyg.attribute_name(point.name) in graphs[0][stage]]
        assert {point.name for point in points} - {point.name for point in kept} <= {"adj"}
        for point in kept:
            name = clrs_pyg.attribute_name(point.name)
            whole = batch[name]
            for index, graph in enumerate(graphs):
                values = graph[name]
                dense = np.asarray(point.data)[:, index] if stage == "hints" else np.asarray(point.data)[index]
                part = whole[index * len(values) : (index + 1) * len(values)] if point.location != "edge" else None
                if stage == "hints":
                    assert not values[:, graph.length.item() :].any(), "padding is zero"
                if point.location == "node":
                    expected = np.swapaxes(dense, 0, 1) if stage == "hints" else dense
                    np.testing.assert_array_equal(values.numpy(), expected.astype(values.numpy().dtype))
                    shift = index * nodes if name in graph.pointers else 0
                    assert torch.equal(part, values + shift), name
                elif point.location == "graph":
                    assert torch.equal(part, values) and len(values) == 1
                else:
                    row, column = graph.edge_index
                    expected = dense[:, row, column].swapaxes(0, 1) if stage == "hints" else dense[row, column]
                    np.testing.assert_array_equal(values.numpy(), expected.astype(values.numpy().dtype))
    for index, graph in enumerate(graphs):
        again = batch.get_example(index)
        assert torch.equal(again.edge_index, graph.edge_index)
        for name in (*graph.inputs, *graph.hints, *graph.outputs):
            assert torch.equal(again[name], graph[name]), name
        # And a batch of what came apart is the same batch.
    assert all(
        torch.equal(Batch.from_data_list(batch.to_data_list())[name], batch[name]) for name in graphs[0].outputs
    )


def test_names_that_mean_something_else_get_an_underscore():
    for algorithm in clrs_rs.CLRS_30_ALGS:
        (graph, *_) = clrs_pyg.to_data(clrs_rs.sample(algorithm, n=5, batch=1).feedback(), graph=graph_of(algorithm))
        names = [*graph.inputs, *graph.hints, *graph.outputs]
        assert len(names) == len(set(names))
        assert not any(hasattr(Data, name) for name in names), algorithm
    (search,) = clrs_pyg.to_data(clrs_rs.sample("binary_search", n=5, batch=1).feedback())
    assert search.return_.shape == (5,)
    (hull,) = clrs_pyg.to_data(clrs_rs.sample("graham_scan", n=5, batch=1).feedback())
    assert hull.x is None and hull.y is None and hull.pos is None
    assert hull.x_.shape == hull.y_.shape == hull.pos_.shape == (5,)
    (depth,) = clrs_pyg.to_data(clrs_rs.sample("dfs", n=5, batch=1).feedback())
    assert depth.time is None and depth.time_.shape[0] == 1


def test_salsa_style_points_with_edges():
    feedback = clrs_rs.sample("dijkstra", n=8, batch=2, seed=4).feedback()
    for indexed, masked in zip(clrs_pyg.to_data(feedback), clrs_pyg.to_data(feedback, style="salsa"), strict=True):
        assert torch.equal(clrs_pyg.edge_targets(masked.edge_index, masked.pi, 8), indexed.pi)
        for step in range(indexed.length.item()):
            assert torch.equal(clrs_pyg.edge_targets(masked.edge_index, masked.pi_h[:, step], 8), indexed.pi_h[:, step])
        assert masked.pi.sum() == 8 and masked.pi.dtype == torch.float32
        # Self-loops have the weight 1 more.
        is_loop = masked.edge_index[0] == masked.edge_index[1]
        assert torch.allclose(masked.weights, indexed.A + is_loop.float())
        assert masked.inputs == ["pos", "s"] and masked.outputs == ["pi"] and masked.length.item() == indexed.length.item()
    assert "weights" not in clrs_pyg.to_data(clrs_rs.sample("bfs", n=4, batch=1).feedback(), style="salsa")[0]


def test_values_off_the_graph_are_errors():
    feedback = clrs_rs.sample("floyd_warshall", n=6, batch=4).feedback()
    with pytest.raises(clrs_rs.errors.DataPointError, match="graph='complete'"):
        clrs_pyg.to_data(feedback)
    assert clrs_pyg.to_data(feedback, graph="complete")[0].num_edges == 36
    with pytest.raises(clrs_rs.errors.DataPointError, match="no input `adj`"):
        clrs_pyg.to_data(clrs_rs.sample("minimum", n=4, batch=1).feedback(), graph="adj")
    with pytest.raises(ValueError, match="`style` must be 'index' or 'salsa', not 'sals'"):
        clrs_pyg.to_data(feedback, style="sals")
    with pytest.raises(ValueError, match="graph"):
        clrs_pyg.to_data(feedback, graph="sparse")


def test_hints_are_padded():
    feedback = clrs_rs.sample("bfs", n=6, batch=2).feedback()
    steps = feedback.features.hints[0].data.shape[0]
    (first, _) = clrs_pyg.to_data(feedback, pad=steps + 3)
    assert first.pi_h.shape == (6, steps + 3) and not first.pi_h[:, steps:].any()
    sizes = [clrs_pyg.to_data(clrs_rs.sample("bfs", n=n, batch=1, graph="tree").feedback())[0] for n in (4, 30)]
    batch = clrs_pyg.collate(sizes)
    assert batch.pi_h.shape == (34, max(graph.pi_h.shape[1] for graph in sizes))
    assert sizes[0].pi_h.shape[1] < batch.pi_h.shape[1], "the graphs themselves stay as they are"
    assert batch.length.tolist() == [graph.length.item() for graph in sizes]


def test_graphs_pickle_and_move_between_workers():
    dataset = clrs_pyg.IterableDataset("bfs", n=5, batch=2, seed=1)
    loader = torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=1, multiprocessing_context="spawn")
    found = next(iter(loader))
    assert torch.equal(found.pi, next(iter(dataset)).pi)


class Network(torch.nn.Module):
    """Message passing with a recurrent state; a pointer is a choice of an edge."""

    def __init__(self, hidden=32, steps=8):
        super().__init__()
        self.steps = steps
        self.encode = torch.nn.Linear(2, hidden)
        self.conv = GINEConv(torch.nn.Sequential(torch.nn.Linear(hidden, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, hidden)), edge_dim=1)
        self.state = torch.nn.GRUCell(hidden, hidden)
        self.decode = torch.nn.Sequential(torch.nn.Linear(2 * hidden, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 1))

    def forward(self, batch):
        source, target = batch.edge_index
        nodes = torch.relu(self.encode(torch.stack([batch.s, batch.pos_], 1)))
        loops = (source == target).float()[:, None]
        states = [nodes]
        for _ in range(self.steps):
            nodes = self.state(self.conv(nodes, batch.edge_index, loops), nodes)
            states.append(nodes)
        return self.decode(torch.cat([nodes[source], nodes[target]], 1))[:, 0]


def test_a_network_learns_breadth_first_search():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    network = Network()
    optimizer = torch.optim.Adam(network.parameters(), lr=5e-3)
    loader = torch.utils.data.DataLoader(clrs_pyg.IterableDataset("bfs", n=16, batch=32, seed=1), batch_size=None)
    for step, batch in enumerate(loader):
        source, target = batch.edge_index
        logits = network(batch)
        log_probabilities = torch.log(torch_geometric.utils.softmax(logits, source) + 1e-9)
        loss = -log_probabilities[batch.pi[source] == target].mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        if step == 400:
            break
    with torch.no_grad():
        batch = clrs_pyg.collate(clrs_pyg.to_data(clrs_rs.load("clrs30", "bfs", "val").feedback()))
        found = clrs_pyg.edge_targets(batch.edge_index, network(batch), batch.num_nodes)
    accuracy = (found == batch.pi).float().mean().item()
    print(f"bfs, n = 16: {accuracy:.3f}")
    assert accuracy > 0.9
