//! Points and segments in the plane.

pub mod graham_scan;
pub mod jarvis_march;
pub mod segments_intersect;
