"""Algorithms on graphs, given as matrices of weights in which 0 means no edge."""

import numpy as np

from clrs_rs.algorithms._run import Array, Probes, Run, native
from clrs_rs.errors import InvalidProblemError


@native
def dfs(A: Array) -> tuple[Array, Probes]:
    """Depth-first search. Returns the predecessors in the forest and the probes."""
    run = Run("dfs", {"weights": A}, A=A)
    return run.output("pi"), run.probes


@native
def bfs(A: Array, s: int) -> tuple[Array, Probes]:
    """Breadth-first search, from node `s`. Returns the predecessors in the tree and the probes."""
    run = Run("bfs", {"weights": A, "source": s}, A=A)
    return run.output("pi"), run.probes


@native
def topological_sort(A: Array) -> tuple[Array, Probes]:
    """Topological sort of an acyclic graph. Returns the successor of every node and the probes."""
    run = Run("topological_sort", {"weights": A}, A=A)
    return run.output("topo"), run.probes


@native
def articulation_points(A: Array) -> tuple[Array, Probes]:
    """Articulation points of an undirected graph. Returns a mask of them and the probes."""
    run = Run("articulation_points", {"weights": A}, A=A)
    return run.output("is_cut"), run.probes


@native
def bridges(A: Array) -> tuple[Array, Probes]:
    """Bridges of an undirected graph. Returns a mask of them and the probes."""
    run = Run("bridges", {"weights": A}, A=A)
    return run.output("is_bridge"), run.probes


@native
def strongly_connected_components(A: Array) -> tuple[Array, Probes]:
    """Strongly connected components. Returns a representative of every node's component and the probes."""
    run = Run("strongly_connected_components", {"weights": A}, A=A)
    return run.output("scc_id"), run.probes


@native
def mst_kruskal(A: Array) -> tuple[Array, Probes]:
    """Minimum spanning tree by Kruskal's algorithm. Returns a mask of its edges and the probes."""
    run = Run("mst_kruskal", {"weights": A}, A=A)
    return run.output("in_mst"), run.probes


@native
def mst_prim(A: Array, s: int) -> tuple[Array, Probes]:
    """Minimum spanning tree by Prim's algorithm, from node `s`. Returns the predecessors in the tree and the probes."""
    run = Run("mst_prim", {"weights": A, "source": s}, A=A)
    return run.output("pi"), run.probes


@native
def bellman_ford(A: Array, s: int) -> tuple[Array, Probes]:
    """Shortest paths by Bellman and Ford, from node `s`. Returns the predecessors on them and the probes."""
    run = Run("bellman_ford", {"weights": A, "source": s}, A=A)
    return run.output("pi"), run.probes


@native
def dijkstra(A: Array, s: int) -> tuple[Array, Probes]:
    """Shortest paths by Dijkstra's algorithm, from node `s`. Returns the predecessors on them and the probes."""
    run = Run("dijkstra", {"weights": A, "source": s}, A=A)
    return run.output("pi"), run.probes


@native
def dag_shortest_paths(A: Array, s: int) -> tuple[Array, Probes]:
    """Shortest paths in an acyclic graph, from node `s`. Returns the predecessors on them and the probes."""
    run = Run("dag_shortest_paths", {"weights": A, "source": s}, A=A)
    return run.output("pi"), run.probes


@native
def floyd_warshall(A: Array) -> tuple[Array, Probes]:
    """Shortest paths between all pairs of nodes. Returns the predecessors on them and the probes."""
    run = Run("floyd_warshall", {"weights": A}, A=A)
    return run.output("Pi"), run.probes


@native
def bipartite_matching(A: Array, n: int, m: int, s: int, t: int) -> tuple[Array, Probes]:
    """Maximum matching of `n` and `m` nodes by augmenting paths in the flow network `A`, from node `s` to node `t`.

    Returns a mask of the matched edges and the probes.
    """
    if (s, t) != (0, n + m + 1):
        raise InvalidProblemError(f"the source must be node 0 and the sink node {n + m + 1}, found {s} and {t}")
    left, right = np.nonzero(A[1 : n + 1, n + 1 : n + m + 1])
    run = Run("bipartite_matching", {"left": n, "right": m, "edges": np.stack([left, right], axis=1)}, A=A)
    return run.output("in_matching"), run.probes
