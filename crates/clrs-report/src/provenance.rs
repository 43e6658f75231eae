//! What runs were started with.

use clrs_nn::run::machine::Machine;
use clrs_store::shell_quoted;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Program, command and machine of a run, as far as its directory has them.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Provenance {
    /// Program and version.
    pub program: Option<String>,
    /// The machine.
    pub machine: Option<Machine>,
    /// The command line that starts the same run.
    pub command: Option<String>,
    /// Device that computed.
    pub device: Option<String>,
}

impl Provenance {
    /// Reads the contents of `provenance.json`. Fields of another type count as missing.
    pub fn new(value: &Value) -> Provenance {
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        Provenance {
            program: text("program"),
            machine: value.get("machine").and_then(|machine| serde_json::from_value(machine.clone()).ok()),
            command: command(value),
            device: text("device"),
        }
    }
}

/// The command line of `clrs train`, from its arguments, or that of a sweep.
fn command(value: &Value) -> Option<String> {
    if let Some(id) = value.get("sweep_run").and_then(Value::as_str) {
        return Some(format!("clrs sweep run SWEEP (run {id})"));
    }
    let list = |name: &str| -> Vec<String> {
        let items = value.get(name).and_then(Value::as_array).into_iter().flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    // Other programs write other provenance.
    value.get("set").and_then(Value::as_array)?;
    let mut words = vec!["clrs train".to_owned()];
    for (name, flag) in [("recipe", ""), ("weights", "--weights "), ("processor_weights", "--processor-weights ")] {
        if let Some(text) = value.get(name).and_then(Value::as_str) {
            words.push(format!("{flag}{}", shell_quoted(text.as_ref())));
        }
    }
    let algorithms = list("algorithms");
    if !algorithms.is_empty() {
        words.push(format!("--algorithms {}", shell_quoted(algorithms.join(",").as_ref())));
    }
    words.extend(list("set").iter().map(|field| format!("--set {}", shell_quoted(field.as_ref()))));
    Some(words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_command_line_is_rebuilt_from_its_arguments() {
        let value = json!({"program": "clrs 1", "recipe": "my recipe.toml", "algorithms": ["bfs", "dfs"], "set": ["hidden=8"]});
        let command = Provenance::new(&value).command;
        assert_eq!(command.as_deref(), Some("clrs train 'my recipe.toml' --algorithms bfs,dfs --set hidden=8"));
        assert_eq!(Provenance::new(&json!([1])), Provenance::default());
    }
}
