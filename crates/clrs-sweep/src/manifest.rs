//! Descriptions of the tasks of a sweep for schedulers other than Slurm.

use std::path::Path;

use crate::status::{RunProgress, State};
use crate::worker::STOPPED_EXIT_CODE;

/// Where the pods of an Indexed Job find the program and the sweep.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KubernetesOptions {
    /// Container image with the program `clrs`.
    pub image: String,
    /// Persistent volume claim with the directory of the sweep, which all pods mount.
    pub claim: String,
    /// Pods at once.
    pub parallelism: usize,
    /// CPUs of each.
    pub cpus: usize,
}

impl KubernetesOptions {
    /// One CPU per pod.
    pub fn new(image: String, claim: String, parallelism: usize) -> KubernetesOptions {
        KubernetesOptions { image, claim, parallelism, cpus: 1 }
    }
}

/// Names of Kubernetes have 63 characters; ours begins with `clrs-`, and pods get a suffix.
const MAX_LABEL: usize = 40;

/// The manifest of an Indexed Job whose pod K executes run K. A run that stops with a checkpoint is started again.
pub fn kubernetes(name: &str, sweep: &Path, runs: usize, options: &KubernetesOptions) -> String {
    let KubernetesOptions { image, claim, parallelism, cpus } = options;
    let label: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let label = label[..label.len().min(MAX_LABEL)].trim_matches('-');
    let directory = sweep.file_name().map_or("sweep".into(), |name| name.to_string_lossy());
    let text = |value: &str| serde_json::to_string(value).expect("a string");
    let (image, claim, path) = (text(image), text(claim), text(&format!("/sweeps/{directory}")));
    format!(
        "apiVersion: batch/v1
kind: Job
metadata:
  name: clrs-{label}
spec:
  completionMode: Indexed
  completions: {runs}
  parallelism: {parallelism}
  backoffLimitPerIndex: 3
  podFailurePolicy:
    rules:
      # Stopped with a checkpoint: start again, without counting it as a failure.
      - action: Ignore
        onExitCodes:
          operator: In
          values: [{STOPPED_EXIT_CODE}]
  template:
    spec:
      restartPolicy: Never
      # Time for a checkpoint when a node is drained.
      terminationGracePeriodSeconds: 120
      containers:
        - name: clrs
          image: {image}
          # The run is that of JOB_COMPLETION_INDEX.
          command: [\"clrs\", \"sweep\", \"run\", {path}, \"--threads\", \"{cpus}\"]
          resources:
            requests:
              cpu: {cpus}
            limits:
              cpu: {cpus}
          volumeMounts:
            - name: sweeps
              mountPath: /sweeps
      volumes:
        - name: sweeps
          persistentVolumeClaim:
            claimName: {claim}
"
    )
}

/// Task numbers of unfinished runs as a JSON list, for `hq submit --from-json`.
pub fn hyperqueue(progress: &[RunProgress]) -> String {
    let left = progress.iter().filter(|run| run.state != State::Complete).map(|run| run.task);
    serde_json::to_string(&left.collect::<Vec<_>>()).expect("numbers") + "\n"
}
