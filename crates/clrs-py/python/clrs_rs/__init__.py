"""The CLRS Algorithmic Reasoning Benchmark, on a Rust engine."""

from clrs_rs import errors as errors
from clrs_rs._core import __version__ as __version__
from clrs_rs.probing import DataPoint as DataPoint
from clrs_rs.samplers import Features as Features, Feedback as Feedback
from clrs_rs.specs import SPECS as SPECS
from clrs_rs import models as models, processors as processors
from clrs_rs.processors import get_processor_factory as get_processor_factory
