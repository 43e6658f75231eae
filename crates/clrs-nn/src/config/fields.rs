//! Documentation of recipe fields, taken from the doc comments of their structs.

/// A field of a recipe.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct FieldDoc {
    /// Name in recipe files.
    pub name: String,
    /// Default value as TOML.
    pub default: String,
    /// Documentation, in Markdown.
    pub description: String,
}

/// All fields of a recipe with their defaults and documentation: those of the model, then the others.
///
/// ```
/// let fields = clrs_nn::config::fields::fields();
/// let hidden = fields.iter().find(|field| field.name == "hidden").unwrap();
/// assert_eq!(hidden.default, "128");
/// ```
pub fn fields() -> Vec<FieldDoc> {
    // Not a table of values: it would widen `f32` to `f64`, with digits that nobody wrote.
    let defaults = super::recipe::Recipe::default().to_toml();
    let default = |name: &str| defaults.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
    let sources = [include_str!("model.rs"), include_str!("recipe.rs")];
    let documented = sources.iter().zip(["ModelConfig", "Recipe"]).flat_map(|(source, name)| doc_comments(source, name));
    let field = |(name, description): (String, String)| {
        let default = default(&name)?.to_string();
        Some(FieldDoc { name, default, description })
    };
    documented.filter_map(field).collect()
}

/// Names and doc comments of the public fields of a struct.
fn doc_comments(source: &str, name: &str) -> Vec<(String, String)> {
    let header = format!("pub struct {name} {{");
    let body = source.split_once(&header).and_then(|(_, rest)| rest.split_once("\n}")).map_or("", |(body, _)| body);
    let (mut fields, mut doc) = (Vec::new(), Vec::new());
    for line in body.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            doc.push(text.trim());
        } else if let Some((name, _)) = line.strip_prefix("pub ").and_then(|line| line.split_once(':')) {
            fields.push((name.to_owned(), doc.join(" ")));
            doc.clear();
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_documented() {
        let defaults = toml::Table::try_from(crate::Recipe::default()).expect("a table");
        let fields = fields();
        for name in defaults.keys() {
            let field = fields.iter().find(|field| field.name == *name).unwrap_or_else(|| panic!("`{name}` is not documented"));
            assert!(field.description.ends_with('.'), "{name}: {}", field.description);
        }
        assert_eq!(fields.len(), defaults.len());
    }
}
