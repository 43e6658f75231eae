"""The CLRS Algorithmic Reasoning Benchmark: data, evaluation and models for users of dm-clrs, on a Rust engine.

``import clrs_rs as clrs`` replaces ``import clrs``; docs/migration.md of the repository lists the differences.
"""

import importlib
from typing import Any

from clrs_rs import algorithms, clrs_text, decoders, errors, evaluation, models, probing, processors, samplers, specs, text
from clrs_rs._core import __version__
from clrs_rs._recipe import Recipe, recipe, recipes
from clrs_rs.dataset import (
    chunkify,
    create_chunked_dataset,
    create_dataset,
    get_clrs_folder,
    get_dataset_gcp_url,
)
from clrs_rs.evaluation import evaluate, evaluate_hints
from clrs_rs.extension import register_algorithm
from clrs_rs.predicted import PredictedTrajectory
from clrs_rs.probing import DataPoint, predecessor_to_cyclic_predecessor_and_first
from clrs_rs.processors import get_processor_factory
from clrs_rs.reports import EvalReport, HintScore, StepReport, TaskUpdate, TrainReport, ValidationReport
from clrs_rs.samplers import (
    CLRS30,
    Features,
    FeaturesChunked,
    Feedback,
    Sampler,
    Trajectory,
    build_sampler,
    process_permutations,
    process_pred_as_input,
    process_random_pos,
)
from clrs_rs.samples import CheckResult, Sample, Samples, check, load, sample, trace
from clrs_rs.specs import (
    ALGO_IDX_INPUT_NAME,
    CLRS_30_ALGS,
    CLRS_30_ALGS_SETTINGS,
    SPECS,
    Location,
    OutputClass,
    Spec,
    Stage,
    Type,
)
from clrs_rs.traces import Trace
from clrs_rs.training import Model, TrainedModel, evaluate_run, open_run, train

__all__ = [
    "ALGO_IDX_INPUT_NAME",
    "CLRS30",
    "CLRS_30_ALGS",
    "CLRS_30_ALGS_SETTINGS",
    "SPECS",
    "CheckResult",
    "DataPoint",
    "EvalReport",
    "Features",
    "FeaturesChunked",
    "Feedback",
    "HintScore",
    "Location",
    "Model",
    "OutputClass",
    "PredictedTrajectory",
    "Recipe",
    "Sample",
    "Sampler",
    "Samples",
    "Spec",
    "Stage",
    "StepReport",
    "TaskUpdate",
    "Trace",
    "TrainReport",
    "TrainedModel",
    "Trajectory",
    "Type",
    "ValidationReport",
    "__version__",
    "algorithms",
    "build_sampler",
    "check",
    "chunkify",
    "clrs_text",
    "create_chunked_dataset",
    "create_dataset",
    "decoders",
    "errors",
    "evaluate",
    "evaluate_hints",
    "evaluate_run",
    "evaluation",
    "get_clrs_folder",
    "get_dataset_gcp_url",
    "get_processor_factory",
    "load",
    "models",
    "open_run",
    "predecessor_to_cyclic_predecessor_and_first",
    "probing",
    "process_permutations",
    "process_pred_as_input",
    "process_random_pos",
    "processors",
    "recipe",
    "recipes",
    "register_algorithm",
    "sample",
    "samplers",
    "specs",
    "text",
    "trace",
    "train",
]


def __getattr__(name: str) -> Any:
    # dm-clrs has it as an attribute after `import clrs`.
    if name == "_src":
        return importlib.import_module("clrs_rs._src")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
