"""The cases in golden/networks: every processor, every algorithm, every setting, all of them small."""
from reference import specs

BASE = {
    "algorithm": "bfs",
    "processor": "mpnn",
    "size": 5,
    "batch": 4,
    "hidden": 8,
    "seed": 2,
    "triplet_features": 4,  # other than the hidden size, so that a mix-up is found
    "pred_as_input": False,
}

PROCESSORS = (
    "deepsets", "gat", "gat_full", "gatv2", "gatv2_full", "memnet_masked", "memnet_full", "mpnn", "pgn", "pgn_mask",
    "triplet_mpnn", "triplet_pgn", "triplet_pgn_mask", "gpgn", "gpgn_mask", "gmpnn", "triplet_gpgn", "triplet_gpgn_mask",
    "triplet_gmpnn",
)  # fmt: skip


OVERRIDES = {
    "articulation_points": {"seed": 15, "track_max_steps": False},
    "bridges": {"seed": 21, "track_max_steps": False},
    "dag_shortest_paths": {"seed": 8},
    "dijkstra": {"seed": 4},
    "floyd_warshall": {"seed": 4},
    "graham_scan": {"size": 6},
    "heapsort": {"seed": 3, "size": 4},
    "kmp_matcher": {"seed": 6, "size": 7},
    "lcs_length": {"seed": 5, "size": 6},
    "mst_kruskal": {"seed": 9},
    "optimal_bst": {"seed": 3},
    "segments_intersect": {"size": 4},
    "strongly_connected_components": {"seed": 3},
    "topological_sort": {"seed": 11, "size": 4},
}
"""Settings for algorithms with long trajectories, or with trajectories of one length, and seeds known to have no near-ties."""


def cases():
    """Name and settings of each case."""
    for name, settings in _cases():
        yield name, BASE | OVERRIDES.get(settings.get("algorithm"), {}) | settings


def _cases():
    for processor in PROCESSORS:
        yield f"processor_{processor}", {"processor": processor} | ({"seed": 11} if processor.startswith("memnet") else {})
    yield "processor_triplet_gmpnn_wide", {
        "processor": "triplet_gmpnn", "algorithm": "floyd_warshall", "hidden": 16, "triplet_features": 8, "size": 4
    }
    yield "processor_pgn_mask_components", {"processor": "pgn_mask", "algorithm": "strongly_connected_components", "size": 4}
    # Soft edge masks that are fed back make every graph complete, so the mask has an effect only if hints are not encoded.
    yield "processor_pgn_mask_edges", {"processor": "pgn_mask", "algorithm": "bridges", "hint_mode": "decoded_only", "seed": 14}
    yield "processor_pgn_mask_permutation", {"processor": "pgn_mask", "algorithm": "insertion_sort", "seed": 3}
    yield "processor_gat_directed", {"processor": "gat", "algorithm": "topological_sort", "heads": 2, "seed": 7}
    yield "processor_memnet_masked_wide", {"processor": "memnet_masked", "algorithm": "dijkstra", "hidden": 16}
    # Breadth-first search has no graph features.
    for processor in ("gat", "gatv2", "memnet_full", "triplet_gmpnn"):
        yield f"processor_{processor}_graph", {"processor": processor, "algorithm": "binary_search", "seed": 1}
    for processor in ("gat", "gatv2"):
        yield f"processor_{processor}_heads", {"processor": processor, "heads": 2, "hidden": 16}

    for algorithm in specs.CLRS_30_ALGS:
        yield f"algorithm_{algorithm}", {"algorithm": algorithm}

    dijkstra = {"algorithm": "dijkstra"}  # has hints of all common kinds
    yield "setting_decoded_only", dijkstra | {"hint_mode": "decoded_only"}
    yield "setting_no_hints", dijkstra | {"hint_mode": "none"}
    yield "setting_hard", dijkstra | {"feedback": "hard"}
    yield "setting_hard_categories", {"algorithm": "topological_sort", "feedback": "hard", "seed": 10}
    yield "setting_hard_edges", {"algorithm": "matrix_chain_order", "processor": "pgn", "feedback": "hard", "seed": 3}
    yield "setting_hard_on_eval", dijkstra | {"feedback": "hard_on_eval"}
    yield "setting_teacher_forcing", dijkstra | {"teacher_forcing": 1.0}
    yield "setting_no_layer_norm", {"layer_norm": False}
    yield "setting_no_layer_norm_gated", {"layer_norm": False, "processor": "triplet_gpgn"}
    yield "setting_default_init", dijkstra | {"init": "default"}
    yield "setting_two_message_steps", {"message_steps": 2}
    yield "setting_two_message_steps_gated", {"message_steps": 2, "processor": "triplet_gmpnn"}
    yield "setting_lstm", {"lstm": True}
    yield "setting_lstm_two_message_steps", {"lstm": True, "message_steps": 2, "processor": "gmpnn"}
    yield "setting_pred_as_input", {"algorithm": "minimum", "pred_as_input": True}
    yield "setting_plain_permutations", {"algorithm": "insertion_sort", "permutations": False}
    yield "setting_tight_padding", dijkstra | {"track_max_steps": False}
    yield "setting_one_step", {"track_max_steps": False, "batch": 1, "seed": 1}


TRAINING = BASE | {"hidden": 16, "batch": 8, "seed": 5}
"""Settings of the twenty training steps."""
