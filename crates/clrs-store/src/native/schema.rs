use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, Metadata, Schema};
use clrs::{Column, Probe};

use super::{FORMAT, FORMAT_KEY, HEADER_KEY, Header};

/// Number of bytes that a node is stored in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeWidth {
    One,
    Two,
    Four,
}

impl NodeWidth {
    /// The narrowest that holds every node of samples with at most `max_nodes` nodes.
    pub(super) fn of(max_nodes: usize) -> NodeWidth {
        match max_nodes {
            0..=0x100 => NodeWidth::One,
            0x101..=0x1_0000 => NodeWidth::Two,
            _ => NodeWidth::Four,
        }
    }

    fn data_type(self) -> DataType {
        match self {
            NodeWidth::One => DataType::UInt8,
            NodeWidth::Two => DataType::UInt16,
            NodeWidth::Four => DataType::UInt32,
        }
    }
}

/// Cells of a list.
pub(super) fn item(probe: &Probe, width: NodeWidth) -> Arc<Field> {
    let data_type = match Column::of(probe.kind) {
        Column::Scalar(_) => DataType::Float64,
        Column::Node(_) => width.data_type(),
        Column::Class(_) => DataType::Int8,
    };
    Arc::new(Field::new("item", data_type, false))
}

/// Columns of a set.
pub(super) fn fields(header: &Header) -> Fields {
    let width = NodeWidth::of(header.max_nodes);
    let extents = ["nodes", "steps"].map(|name| Field::new(name, DataType::UInt32, false));
    let probes = header.spec.iter().map(|probe| Field::new(probe.path(), DataType::List(item(probe, width)), false));
    extents.into_iter().chain(probes).collect()
}

/// Columns of a set, with the header as metadata.
pub(super) fn schema(header: &Header) -> Schema {
    let json = serde_json::to_string(header).expect("a header is valid JSON");
    let metadata = [(FORMAT_KEY.to_owned(), FORMAT.to_owned()), (HEADER_KEY.to_owned(), json)];
    Schema::new(fields(header)).with_metadata(metadata.into_iter().collect::<Metadata>())
}
