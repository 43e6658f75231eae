use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use clrs::clrs30::{Split, Version};
use clrs::{AnyAlgorithm, Registry, SamplerOptions};
use clrs_nn::data::{self, Changes};
use clrs_nn::device::Device;
use clrs_nn::evaluate::{Candidate, Manner, Report, Steps, examine};
use clrs_nn::recipe::ON_THE_FLY;
use clrs_nn::set::JudgedSet;
use clrs_nn::train::Flow;
use clrs_nn::trained::{Checkpoint, Trained};
use clrs_store::Progress;
use clrs_store::{OnExisting, write_atomic};

use crate::arguments::Computing;
use crate::progress::Bar;

mod json;
mod print;

/// Judge trained networks: score, validity, exactness
///
/// Each run (a folder that `clrs train` made) is judged at every algorithm that it learnt, on the benchmark's test set, on sets of your
/// own (`--data DIR`), or on samples drawn for the purpose (`--sizes 16,64,256`). The score is the reference's: micro-F1 of masks,
/// accuracy of other outputs, the mean over outputs. Validity is the share of samples whose answer is right, whether or not it is
/// the reference's; exactness the share whose answer equals the reference's. All are percentages.
///
/// Several runs whose recipes differ in nothing but seeds are also summed up: mean and standard deviation (of a sample: n - 1),
/// means over families, over the families' means and over all algorithms, beside the paper's numbers where it has them. The paper's
/// are of `clrs30@1.0.0`; later versions have other samples, and some algorithms other probes.
///
/// A network is told as many steps as the algorithm took, as papers do (`--steps oracle`); that tells it something about the answer.
/// `--steps max` runs it for as many steps as the algorithm may take on so many nodes, and `--steps fixpoint` until a step
/// decides on outputs and hints (scalars aside) as the step before did. Positions of nodes are never random here.
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(crate) struct Arguments {
    /// Folders of runs
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// Parameters to judge: `best` (of validation), `last`, or a file
    #[arg(long, value_name = "best|last|FILE", default_value = "best")]
    checkpoint: String,
    /// Of what a run learnt, judge these alone, comma-separated
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    algorithms: Vec<String>,
    /// Version of the benchmark (clrs30, clrs30@1.0.0) or folder of sets named `ALGORITHM_SPLIT.arrow`; without it, the version that
    /// a run was trained on, or clrs30
    #[arg(long, value_name = "NAME|DIR")]
    data: Option<String>,
    /// Part of the data
    #[arg(long, value_enum)]
    split: Option<SplitName>,
    /// Draw samples of these sizes, comma-separated; with --data or --split, beside that
    #[arg(long, value_name = "N,..", value_delimiter = ',')]
    sizes: Vec<usize>,
    /// Samples of a size; as many as the benchmark's test has of an algorithm (32, 1024 or 2048) if it is not said
    #[arg(long, requires = "sizes")]
    count: Option<usize>,
    /// Seed of the samples of a size; 1, 2 and 3 are those of the benchmark's sets
    #[arg(long, requires = "sizes", default_value_t = 4)]
    seed: u32,
    /// Option of the distribution (`clrs show ALGORITHM` lists them); lists are comma-separated: `--set p=0.1,0.5`
    #[arg(long = "set", value_name = "OPTION=VALUE", requires = "sizes")]
    settings: Vec<String>,
    /// How many steps the network takes
    #[arg(long, value_enum, default_value_t = StepsName::Oracle)]
    steps: StepsName,
    /// Samples of a batch: less memory, or less time
    #[arg(long, default_value_t = 32)]
    batch_size: usize,
    /// Score hints too, at every step
    #[arg(long)]
    hints: bool,
    /// Write what is predicted for every sample, and what is wrong with it: a line of JSON each
    #[arg(long, value_name = "FILE.jsonl")]
    examples: Option<PathBuf>,
    /// Write hidden states and logits of every step of the first batch (docs/json.md says how)
    #[arg(long, value_name = "FILE.safetensors")]
    dump: Option<PathBuf>,
    /// Write over existing files
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    computing: Computing,
    /// As JSON
    #[arg(long)]
    json: bool,
    /// No progress
    #[arg(long)]
    quiet: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum SplitName {
    Train,
    Val,
    Test,
}

#[derive(Clone, Copy, ValueEnum)]
enum StepsName {
    /// As many as the algorithm took
    Oracle,
    /// As many as it may take at most
    Max,
    /// Until decisions repeat
    Fixpoint,
}

impl StepsName {
    fn steps(self) -> Steps {
        match self {
            StepsName::Oracle => Steps::Oracle,
            StepsName::Max => Steps::Max,
            StepsName::Fixpoint => Steps::Fixpoint,
        }
    }
}

/// One network, at one algorithm, on one set.
struct Task<'r> {
    run: &'r Run,
    index: usize,
    algorithm: &'static dyn AnyAlgorithm,
    set: JudgedSet,
}

type Judged<'t> = (&'t Task<'t>, Report);

/// A run as it was named, and its network.
struct Run {
    folder: PathBuf,
    trained: Trained,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    ensure!(arguments.batch_size > 0, "--batch-size 0: a batch has one sample at least");
    ensure!(arguments.count != Some(0), "--count 0: there is nothing to judge");
    let on_existing = if arguments.force { OnExisting::Replace } else { OnExisting::Fail };
    for path in [&arguments.examples, &arguments.dump].into_iter().flatten() {
        ensure!(arguments.force || !path.exists(), "{}: it exists already (--force replaces it)", path.display());
    }
    let device = arguments.computing.open()?;
    let runs = open(arguments)?;
    let tasks = tasks(arguments, &runs)?;
    if arguments.dump.is_some() {
        ensure!(tasks.len() == 1, "--dump is for one run, one algorithm (--algorithms) and one set, not for {}", tasks.len());
    }
    let counts = tasks.iter().map(|task| Ok(task.set.samples(task.algorithm)?)).collect::<Result<Vec<usize>>>()?;
    let bar = Bar::new(counts.iter().sum(), arguments.quiet);
    let mut examples = String::new();
    let judged = tasks.iter().map(|task| Ok((task, judge(task, arguments, &device, &bar, &mut examples)?)));
    let judged: Result<Vec<Judged<'_>>> = judged.collect();
    bar.finish();
    let judged = judged?;

    if let Some(path) = &arguments.examples {
        write_atomic(path, on_existing, examples.as_bytes())?;
    }
    if let Some(path) = &arguments.dump {
        let dump = judged.first().and_then(|(_, report)| report.dump.as_ref()).context("there is nothing to dump")?;
        write_atomic(path, on_existing, &dump.to_bytes())?;
    }
    let mut out = std::io::stdout().lock();
    if arguments.json {
        writeln!(out, "{:#}", json::all(&judged, arguments))?;
    } else {
        print::all(&mut out, &judged, arguments)?;
    }
    Ok(())
}

fn open(arguments: &Arguments) -> Result<Vec<Run>> {
    let checkpoint = match arguments.checkpoint.as_str() {
        "best" => Checkpoint::Best,
        "last" => Checkpoint::Last,
        file => Checkpoint::File(file.into()),
    };
    let registry = Registry::builtin();
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut runs = Vec::new();
    for folder in &arguments.runs {
        let trained = Trained::open(folder, &checkpoint, &registry)?;
        let place = folder.canonicalize().with_context(|| format!("cannot read {}", folder.display()))?;
        ensure!(!seen.contains(&place), "{} is named twice", folder.display());
        seen.push(place);
        if let Some(Run { folder: other, .. }) = runs.iter().find(|run: &&Run| run.trained.recipe == trained.recipe) {
            let (folder, other) = (folder.display(), other.display());
            writeln!(std::io::stderr(), "clrs: {other} and {folder} have the same recipe and seeds; they count as two runs")?;
        }
        runs.push(Run { folder: folder.clone(), trained });
    }
    Ok(runs)
}

/// All that is to be judged.
fn tasks<'r>(arguments: &Arguments, runs: &'r [Run]) -> Result<Vec<Task<'r>>> {
    let learnt = |name: &String| runs.iter().any(|run| run.trained.algorithms.iter().any(|of| of.name() == name));
    if let Some(name) = arguments.algorithms.iter().find(|name| !learnt(name)) {
        bail!("no run has learnt `{name}`");
    }
    let mut tasks = Vec::new();
    for run in runs {
        for (index, &algorithm) in run.trained.algorithms.iter().enumerate() {
            let is_named = arguments.algorithms.iter().any(|name| name == algorithm.name());
            if is_named || arguments.algorithms.is_empty() {
                let sets = sets(arguments, run)?;
                tasks.extend(sets.into_iter().map(|set| Task { run, index, algorithm, set }));
            }
        }
    }
    Ok(tasks)
}

/// The sets that a run is judged on.
fn sets(arguments: &Arguments, run: &Run) -> Result<Vec<JudgedSet>> {
    let mut sets = Vec::new();
    if arguments.sizes.is_empty() || arguments.data.is_some() || arguments.split.is_some() {
        let trained_on = &run.trained.recipe.data;
        let own = trained_on.parse::<Version>().unwrap_or_default();
        let data = arguments.data.clone().unwrap_or_else(|| own.name().into());
        ensure!(data != ON_THE_FLY, "--data {ON_THE_FLY}: --sizes draws samples for the purpose");
        let split = match arguments.split {
            Some(SplitName::Train) => Split::Train,
            Some(SplitName::Val) => Split::Val,
            Some(SplitName::Test) | None => Split::Test,
        };
        sets.push(JudgedSet::Fixed { data, split });
    }
    let options = SamplerOptions::parse(arguments.settings.iter().map(String::as_str))?;
    let drawn = |&size: &usize| {
        let (count, seed, options) = (arguments.count, arguments.seed, options.clone());
        JudgedSet::Drawn { size, count, seed, options }
    };
    sets.extend(arguments.sizes.iter().map(drawn));
    Ok(sets)
}

fn judge(task: &Task<'_>, arguments: &Arguments, device: &Device, bar: &Bar, examples: &mut String) -> Result<Report> {
    let Task { run: Run { folder, trained }, index, algorithm, set } = task;
    let about = || format!("{}: {} on {set}", folder.display(), algorithm.name());
    let runs = set.make(*algorithm)?;
    let spec = data::recorded_spec(&trained.recipe, *algorithm)?;
    let runs = data::with_probes(runs, &spec, *algorithm).with_context(about)?;
    let weights = trained.parameters.fixed(device);
    let candidate = Candidate { network: &trained.network, weights: &weights, task: *index, algorithm: *algorithm };
    let changes = Changes::new(&trained.recipe, *algorithm, *index, Split::Test);
    let manner = Manner {
        batch_size: arguments.batch_size,
        steps: arguments.steps.steps(),
        hints: arguments.hints,
        dump: arguments.dump.is_some(),
    };
    let report = examine(candidate, &runs, &changes, manner, &mut |samples| {
        bar.add(samples);
        if bar.is_cancelled() { Flow::Stop } else { Flow::Continue }
    })
    .with_context(about)?;
    if arguments.examples.is_some() {
        json::examples(task, &runs, &report, examples)?;
    }
    Ok(report)
}
