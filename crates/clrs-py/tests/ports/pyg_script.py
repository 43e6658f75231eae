"""A script for dm-clrs and PyTorch Geometric, as projects write them: graphs from batches, and a GNN that predicts pointers."""

import clrs
import numpy as np
import torch
import torch_geometric
from clrs._src import probing
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GINConv

torch.manual_seed(0)
torch.set_num_threads(1)

sampler, spec = clrs.build_sampler("bfs", num_samples=64, seed=3, length=8, p=(0.3, 0.5), length_needle=-8)
assert spec is clrs.SPECS["bfs"]


def graphs(feedback):
    inputs, hints, lengths = feedback.features
    named = {point.name: point for point in inputs}
    for index in range(lengths.shape[0]):
        adjacency = named["adj"].data[index]
        (pi,) = [point for point in feedback.outputs if point.location == clrs.Location.NODE and point.type_ == clrs.Type.POINTER]
        yield Data(
            x=torch.tensor(np.stack([named["pos"].data[index], named["s"].data[index]], 1), dtype=torch.float32),
            edge_index=torch.tensor(np.argwhere(adjacency).T.copy()),
            parent=torch.tensor(pi.data[index]),
            steps=int(lengths[index]),
            num_nodes=adjacency.shape[0],
        )


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.Linear(2, 16)
        self.conv = GINConv(torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.ReLU(), torch.nn.Linear(16, 16)))
        self.score = torch.nn.Linear(32, 1)

    def forward(self, batch):
        hidden = self.encoder(batch.x)
        for _ in range(3):
            hidden = torch.relu(self.conv(hidden, batch.edge_index))
        source, target = batch.edge_index
        return self.score(torch.cat([hidden[source], hidden[target]], 1))[:, 0]


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(20):
    feedback = sampler.next(8)
    batch = Batch.from_data_list(list(graphs(feedback)))
    source, target = batch.edge_index
    logits = net(batch)
    truth = (batch.parent[source] == target - batch.ptr[batch.batch[source]]).float()
    loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, truth)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.6f}", batch.steps.sum().item(), batch.num_edges)

feedback = sampler.next()
batch = Batch.from_data_list(list(graphs(feedback)))
source, target = batch.edge_index
probabilities = torch_geometric.utils.softmax(net(batch), source)
dense = torch_geometric.utils.to_dense_adj(batch.edge_index, batch.batch, probabilities)
prediction = dense.argmax(-1).numpy()
truth = feedback.outputs[0]
scores = clrs.evaluate(feedback.outputs, {truth.name: probing.DataPoint(truth.name, truth.location, truth.type_, prediction)})
print({name: f"{float(score):.6f}" for name, score in scores.items()})
