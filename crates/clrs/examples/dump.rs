//! Temporary door for comparisons.
use std::io::Write;

use clrs::{Batch, Data, RandomState, Registry, Settings};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let algorithm = Registry::builtin().find(&arguments[0]).expect("known");
    let size: usize = arguments[1].parse().expect("size");
    let count: usize = arguments[2].parse().expect("count");
    let seed: u32 = arguments[3].parse().expect("seed");
    let settings = Settings::parse(arguments[4..].iter().map(String::as_str)).expect("settings");
    let mut draws = algorithm.draws(size, &settings).expect("draws");
    let mut random = RandomState::new(seed);
    let mut recorder = algorithm.recorder();
    for k in 0..count {
        draws.draw(&mut random).expect("drawn");
        draws.record(k, &mut recorder).expect("recorded");
    }
    let runs: Vec<_> = recorder.runs().iter().collect();
    for run in &runs {
        use clrs::Stage;
        algorithm.check(run.nodes(), &run.stage(Stage::Input), &run.stage(Stage::Output)).expect("right");
        assert!(run.steps() <= algorithm.max_steps(run.nodes()), "max_steps");
    }
    let batch = Batch::new(&runs, 0).expect("batch");
    let mut out = std::io::stdout().lock();
    let mut put = |name: &str, shape: &[usize], dtype: &str, bytes: Vec<u8>| {
        writeln!(out, "{name} {dtype} {} {}", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(","), bytes.len())
            .expect("out");
        out.write_all(&bytes).expect("out");
    };
    for (probe, array) in batch.iter() {
        let name = format!("{:?}/{}", probe.stage, probe.name).to_lowercase().replace(&probe.name.to_lowercase(), &probe.name);
        match &array.data {
            Data::F64(data) => put(&name, &array.shape, "f8", data.iter().flat_map(|x| x.to_le_bytes()).collect()),
            Data::F32(data) => put(&name, &array.shape, "f4", data.iter().flat_map(|x| x.to_le_bytes()).collect()),
            Data::I64(data) => put(&name, &array.shape, "i8", data.iter().flat_map(|x| x.to_le_bytes()).collect()),
        }
    }
    put("lengths", &[batch.samples()], "f8", batch.lengths.iter().flat_map(|x| x.to_le_bytes()).collect());
    put("word", &[1], "i8", i64::from(random.word()).to_le_bytes().to_vec());
}
