use md5::{Digest, Md5};

/// Indices of the samples in the order of their records: by the MD5 of the split's name and the index.
pub(super) fn order(split: &str, samples: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..samples).collect();
    order.sort_by_cached_key(|sample| <[u8; 16]>::from(Md5::digest(format!("{split}{sample}"))));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_in_the_order_of_dm_clrs() {
        assert_eq!(order("val", 32)[..8], [22, 15, 10, 28, 16, 19, 6, 29]);
        assert_eq!(order("val", 2048)[..4], [372, 1230, 1343, 1971]);
        assert_eq!(order("train", 1000)[..4], [499, 837, 546, 386]);
        assert_eq!(order("test", 2048)[..4], [163, 131, 1579, 1151]);
    }
}
