"""The CLRS Algorithmic Reasoning Benchmark, on a Rust engine."""

from clrs_rs import errors as errors
from clrs_rs._core import __version__ as __version__
from clrs_rs.probing import DataPoint as DataPoint
from clrs_rs.samplers import Features as Features, Feedback as Feedback
from clrs_rs.specs import SPECS as SPECS
from clrs_rs import models as models, processors as processors
from clrs_rs.predicted import PredictedTrajectory as PredictedTrajectory
from clrs_rs.processors import get_processor_factory as get_processor_factory
from clrs_rs.training import (
    EvalReport as EvalReport,
    HintScore as HintScore,
    Model as Model,
    Recipe as Recipe,
    StepReport as StepReport,
    TaskUpdate as TaskUpdate,
    TrainedModel as TrainedModel,
    TrainReport as TrainReport,
    ValidationReport as ValidationReport,
    evaluate_run as evaluate_run,
    open_run as open_run,
    recipe as recipe,
    recipes as recipes,
    train as train,
)
